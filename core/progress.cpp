#include "progress.h"

#include <fmt/format.h>

namespace flamb {
namespace {

constexpr auto interval = std::chrono::milliseconds(200);

}  // namespace

Progress::Progress(Invocations& invocations, Unit unit, std::uint64_t count, std::string trigger)
    : invocations_(invocations), unit_(unit), count_(count), trigger_(std::move(trigger)) {
  invocations_.on_event = [this] { show(); };
  invocations_.debugger.progress(fmt::format("flamb: waiting for {} (Ctrl-C to stop)", trigger_));
}

Progress::~Progress() {
  invocations_.on_event = {};
  invocations_.debugger.progress("");
}

void Progress::show() {
  const auto now = std::chrono::steady_clock::now();
  if (now - shown_ < interval || invocations_.open.empty()) return;
  shown_ = now;
  std::uint64_t events = 0;
  std::uint64_t number = 0;
  for (const auto& [thread, invocation] : invocations_.open) {
    events += invocation->events;
    number = std::max(number, invocation->profile.invocation());
  }
  invocations_.debugger.progress(fmt::format("flamb: {}, invocation {} of {}: {} {}, {:.1f} s", trigger_, number,
                                             count_, events, unit_name(unit_),
                                             std::chrono::duration<double>(now - began_).count()));
}

}  // namespace flamb
