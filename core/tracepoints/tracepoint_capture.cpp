#include "tracepoints/tracepoint_capture.h"

#include <algorithm>
#include <ranges>

#include "deadline.h"
#include "stop_reason.h"
#include "tracepoints/recorded_invocations.h"

namespace flamb {
namespace {

constexpr std::size_t most_nodes = 8'000'000;
constexpr std::string_view still_open = "still open";

}  // namespace

TracepointCapture::TracepointCapture(Invocations& invocations, Capture::Settings settings, Unit unit)
    : invocations_(invocations), settings_(std::move(settings)), unit_(unit) {}

TracepointCapture::~TracepointCapture() { forget_breakpoints(); }

Result<Collection> TracepointCapture::wait() {
  if (auto known = take_target(); !known) return tl::unexpected(known.error());
  const Deadline deadline(settings_.timeout, [&] { invocations_.debugger.interrupt(); });
  const auto reached = wait_for_trigger();
  has_timed_out_ = deadline.has_expired();
  if (!reached) return tl::unexpected(reached.error());
  if (!is_reached_ || reached->kind != Stop::Kind::requested) return collect(*reached, false);
  if (auto planted = plant(0); !planted) {
    has_timed_out_ = deadline.has_expired();
    if (!has_timed_out_ && !invocations_.debugger.interrupt_requested()) return tl::unexpected(planted.error());
    return collect(Stop{.kind = Stop::Kind::interrupted, .description = "interrupted"}, false);
  }
  const auto stop = record();
  has_timed_out_ = deadline.has_expired();
  if (!stop) return tl::unexpected(stop.error());
  return collect(*stop, is_done_);
}

Result<Collection> TracepointCapture::call() {
  if (auto known = take_target(); !known) return tl::unexpected(known.error());
  const auto thread = invocations_.debugger.selected_thread();
  if (!thread) return tl::unexpected(thread.error());
  if (auto planted = plant(*thread); !planted) return tl::unexpected(planted.error());
  const Deadline deadline(settings_.timeout, [&] { invocations_.debugger.interrupt(); });
  const auto outcome = invocations_.debugger.call(settings_.trigger, [](ThreadId, Address) {});
  has_timed_out_ = deadline.has_expired();
  if (!outcome) return tl::unexpected(outcome.error());
  auto collection = collect(outcome->stop, outcome->finished);
  if (collection && outcome->finished) collection->values.push_back(outcome->value);
  return collection;
}

Result<void> TracepointCapture::take_target() {
  const auto target = invocations_.debugger.target();
  if (!target) return tl::unexpected(target.error());
  target_ = *target;
  if (target_.is_local) return {};
  return fail(Fault::user, "tracepoints need a process of this machine", "use --collector breakpoints");
}

void TracepointCapture::watch_triggers() {
  for (const Function* trigger : invocations_.program.find(settings_.trigger).functions) {
    if (trigger->is_ifunc || trigger->is_cold_part || !triggers_.emplace(trigger->start, trigger).second) continue;
    invocations_.program.take_into_scope(trigger->start);
    const auto id = invocations_.debugger.set_breakpoint(trigger->start, [this](ThreadId) {
      is_reached_ = true;
      return Verdict::stop;
    });
    if (id) {
      breakpoints_.push_back(*id);
    } else {
      invocations_.fail(id.error());
    }
  }
}

void TracepointCapture::forget_breakpoints() {
  for (const BreakpointId id : breakpoints_) invocations_.debugger.remove_breakpoint(id);
  breakpoints_.clear();
}

// The stop at the trigger's entry, or another that ends the waiting.
Result<Stop> TracepointCapture::wait_for_trigger() {
  watch_triggers();
  Result<Stop> stop;
  do {
    if (invocations_.failure) return tl::unexpected(*invocations_.failure);
    stop = invocations_.debugger.resume();
  } while (stop && !is_reached_ && goes_on_after(*stop));
  return stop;
}

Result<void> TracepointCapture::plant(ThreadId apply_thread) {
  forget_breakpoints();
  std::vector<Address> entries;
  entries.reserve(triggers_.size());
  for (const auto& [entry, trigger] : triggers_) entries.push_back(entry);
  tracepoints_.emplace(invocations_, static_cast<pid_t>(target_.pid));
  auto planted = tracepoints_->plant(entries, {.count = settings_.count,
                                               .apply_thread = apply_thread,
                                               .max_depth = settings_.tree.max_depth,
                                               .max_nodes = most_nodes});
  for (const auto& [id, reason] : tracepoints_->refused()) {
    if (!planted || id >= tracepoints_->functions().triggers) continue;
    planted =
        fail(Fault::target, fmt::format("{} gets no tracepoint: {}", tracepoints_->functions().list[id].name, reason),
             "use --collector breakpoints");
  }
  if (!planted) {
    tracepoints_.reset();
    return planted;
  }
  watch_end();
  return {};
}

// The stop after the last invocation, or another that ends the capture.
Result<Stop> TracepointCapture::record() {
  Result<Stop> stop;
  do {
    stop = invocations_.debugger.resume();
  } while (stop && !is_done_ && goes_on_after(*stop));
  return stop;
}

// With the process what was recorded goes too: it is saved before.
void TracepointCapture::watch_end() {
  const auto watch = [this](Address where, const BreakpointHandler& handler) {
    const auto id = invocations_.debugger.set_breakpoint(where, handler);
    if (id) breakpoints_.push_back(*id);
  };
  watch(tracepoints_->done(), [this](ThreadId) {
    is_done_ = true;
    return Verdict::stop;
  });
  for (const char* name : {"_exit", "execve", "execveat", "fexecve"}) {
    const Function* function = invocations_.program.exported(name);
    if (function == nullptr) continue;
    watch(function->start, [this](ThreadId) {
      save();
      return Verdict::go_on;
    });
  }
}

void TracepointCapture::save() {
  if (!tracepoints_->observe()) return;
  if (auto now = read(std::string(still_open))) saved_ = std::move(*now);
}

Result<std::vector<std::unique_ptr<Invocation>>> TracepointCapture::read(const std::string& reason) {
  return read_invocations(*tracepoints_, settings_.tree, unit_, reason);
}

bool TracepointCapture::goes_on_after(const Stop& stop) {
  if (stop.kind == Stop::Kind::modules) {
    if (const auto refreshed = invocations_.program.refresh(); !refreshed) invocations_.fail(refreshed.error());
    if (!tracepoints_) watch_triggers();
    return !invocations_.failure;
  }
  return stop.kind == Stop::Kind::signal && is_handled_signal(target_, stop.code);
}

Result<Collection> TracepointCapture::collect(const Stop& end, bool is_over) {
  forget_breakpoints();
  Collection result;
  if (!is_over) result.end = stop_reason(end, has_timed_out_ ? settings_.timeout : std::nullopt);
  if (tracepoints_ && (is_over || !has_ended(end.kind))) {
    if (auto lifted = tracepoints_->lift(); !lifted) return tl::unexpected(lifted.error());
    auto invocations = read(result.end);
    if (!invocations) return tl::unexpected(invocations.error());
    result.invocations = std::move(*invocations);
    if (is_over || end.kind == Stop::Kind::user) tracepoints_->unload_stubs();
  } else if (saved_) {
    result.invocations = std::move(*saved_);
  }
  if (tracepoints_ && !result.invocations.empty()) tell_of_refused();
  for (const auto& invocation : result.invocations) describe(*invocation);
  result.is_complete = is_over && std::ranges::all_of(result.invocations, [](const auto& each) {
                         return each->profile.incomplete.empty();
                       });
  for (const auto& invocation : result.invocations) {
    if (invocation->profile.incomplete == still_open) invocation->profile.incomplete = result.end;
  }
  return result;
}

// Their calls count for their callers.
void TracepointCapture::tell_of_refused() {
  constexpr std::size_t most_named = 3;
  const auto& refused = tracepoints_->refused();
  if (refused.empty()) return;
  std::vector<std::string> named;
  for (const auto& [id, reason] : refused | std::views::take(most_named)) {
    named.push_back(fmt::format("{} ({})", tracepoints_->functions().list[id].name, reason));
  }
  const std::string more =
      refused.size() > named.size() ? fmt::format(" and {} more", refused.size() - named.size()) : "";
  invocations_.debugger.print(fmt::format("flamb: without a frame: {}{}\n", fmt::join(named, ", "), more));
}

void TracepointCapture::describe(Invocation& invocation) const {
  Profile& profile = invocation.profile;
  if (triggers_.empty()) profile.trigger = settings_.trigger;  // an apply's
  set_origin(profile, "tracepoints", unit_, target_, invocations_.debugger);
  if (unit_ == Unit::nanoseconds) profile.hook_cost = tracepoints_ ? tracepoints_->hook_cost() : 0;
}

}  // namespace flamb
