#include "lldb_quiet.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <thread>

namespace flamb {

void wait_for_event_thread(lldb::SBDebugger debugger) {
  using namespace std::chrono_literals;
  lldb::SBBroadcaster marker("flamb.marker");
  lldb::SBListener listener = debugger.GetListener();
  listener.StartListeningForEvents(marker, 1);
  marker.BroadcastEventByType(1);
  lldb::SBEvent event;
  const auto give_up = std::chrono::steady_clock::now() + 500ms;
  while (listener.PeekAtNextEventForBroadcaster(marker, event) && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(1ms);
  }
  if (listener.PeekAtNextEventForBroadcaster(marker, event)) listener.GetNextEventForBroadcaster(marker, event);
  listener.StopListeningForEvents(marker, 1);
}

QuietStop::QuietStop(lldb::SBDebugger debugger) : debugger_(std::move(debugger)) {
  FILE* out = debugger_.GetOutputFileHandle();
  if (!out) return;
  std::fflush(out);
  held_ = memfd_create("flamb", MFD_CLOEXEC);
  terminal_ = dup(fileno(out));
  if (held_ < 0 || terminal_ < 0 || dup2(held_, fileno(out)) < 0) return;
  output_ = fileno(out);
}

QuietStop::~QuietStop() {
  if (output_ >= 0) {
    wait_for_event_thread(debugger_);
    std::fflush(debugger_.GetOutputFileHandle());
    dup2(terminal_, output_);
    std::string text = held_back();
    // The target's own output comes before the stop.
    const std::string stop =
        fmt::format("Process {} stopped\n", debugger_.GetSelectedTarget().GetProcess().GetProcessID());
    if (const auto at = text.find(stop); at != text.npos) text.resize(at);
    [[maybe_unused]] const auto written = write(output_, text.data(), text.size());
  }
  if (terminal_ >= 0) close(terminal_);
  if (held_ >= 0) close(held_);
}

std::string QuietStop::held_back() const {
  std::string text;
  std::array<char, 4096> part{};
  for (off_t at = 0;;) {
    const ssize_t got = pread(held_, part.data(), part.size(), at);
    if (got <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
    at += got;
  }
}

}  // namespace flamb
