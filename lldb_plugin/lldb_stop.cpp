#include "lldb_stop.h"

#include <signal.h>

#include <array>
#include <string>

#include "proc.h"

namespace flamb {

namespace {

// Of several things that happened at once the most urgent is told.
int urgency(Stop::Kind kind) {
  switch (kind) {
    case Stop::Kind::exec: return 6;
    case Stop::Kind::user: return 5;
    case Stop::Kind::signal: return 4;
    case Stop::Kind::requested: return 3;
    case Stop::Kind::modules: return 2;
    default: return 1;
  }
}

std::string signal_name(lldb::SBProcess& process, int signal) {
  const char* name = process.GetUnixSignals().GetSignalAsCString(signal);
  return name ? name : fmt::format("signal {}", signal);
}

}  // namespace

std::string stop_description(lldb::SBThread& thread) {
  std::array<char, 512> text{};
  thread.GetStopDescription(text.data(), text.size());
  return text.data();
}

StopReader::StopReader(lldb::SBTarget target, Breakpoints& ours, bool is_local)
    : target_(std::move(target)), ours_(ours) {
  for (std::uint32_t i = 0; i < target_.GetNumBreakpoints(); ++i) {
    const lldb::SBBreakpoint breakpoint = target_.GetBreakpointAtIndex(i);
    if (!ours_.owns(breakpoint.GetID())) hit_counts_[breakpoint.GetID()] = breakpoint.GetHitCount();
  }
  lldb::SBProcess process = target_.GetProcess();
  note_signals(process, is_local);
}

void StopReader::note_signals(lldb::SBProcess& process, bool is_local) {
  const std::uint64_t survived = is_local ? survived_signals(static_cast<pid_t>(process.GetProcessID())) : 0;
  for (std::uint32_t i = 0; i < process.GetNumThreads(); ++i) {
    lldb::SBThread thread = process.GetThreadAtIndex(i);
    if (thread.GetStopReason() != lldb::eStopReasonSignal) continue;
    const int signal = static_cast<int>(thread.GetStopReasonDataAtIndex(0));
    const bool passes = !process.GetUnixSignals().GetShouldSuppress(signal);
    if (passes && (survived >> (signal - 1) & 1U) == 0) deadly_signals_.insert(signal);
  }
}

// LLDB gives one number for an exit status and for a signal that ended the process. It was the signal if one of that
// number was about to be delivered.
Stop StopReader::read_end(lldb::SBProcess& process) const {
  const int code = process.GetExitStatus();
  if (!deadly_signals_.contains(code)) return Stop{Stop::Kind::exited, 0, code, fmt::format("exit status {}", code)};
  return Stop{Stop::Kind::killed, 0, code, signal_name(process, code)};
}

// What leaves no thread to look at.
std::optional<Stop> StopReader::read_state(lldb::SBProcess& process) const {
  const lldb::StateType state = process.GetState();
  if (state == lldb::eStateExited) return read_end(process);
  if (state == lldb::eStateStopped || state == lldb::eStateCrashed || state == lldb::eStateSuspended) return {};
  return Stop{.kind = Stop::Kind::lost,
              .description = fmt::format("the target is {}", lldb::SBDebugger::StateAsCString(state))};
}

std::optional<Stop> StopReader::read(lldb::SBProcess& process, bool interrupted, ThreadId except) {
  if (const auto gone = read_state(process)) return gone;
  found_.reset();
  const bool explained = read_threads(process, interrupted, except);
  if (const auto thread = ours_.requested();
      thread && (!found_ || urgency(found_->kind) < urgency(Stop::Kind::requested))) {
    lldb::SBThread where = process.GetThreadByID(*thread);
    found_ = Stop{.kind = Stop::Kind::requested, .thread = *thread, .description = stop_description(where)};
    if (interrupted) *found_ = {.kind = Stop::Kind::interrupted, .thread = *thread, .description = "interrupted"};
  }
  if (found_) return found_;
  if (interrupted) {
    return Stop{.kind = Stop::Kind::interrupted,
                .thread = process.GetSelectedThread().GetThreadID(),
                .description = "interrupted"};
  }
  if (explained) return std::nullopt;
  return Stop{.kind = Stop::Kind::lost, .description = "LLDB names no reason for the stop"};
}

// The other threads show their last stops still.
Stop StopReader::read_step(lldb::SBProcess& process, ThreadId stepped, bool interrupted) {
  if (const auto gone = read_state(process)) return *gone;
  lldb::SBThread thread = process.GetThreadByID(stepped);
  if (!thread.IsValid()) {
    return Stop{.kind = Stop::Kind::lost, .description = fmt::format("thread {} ended", stepped)};
  }
  const lldb::StopReason reason = thread.GetStopReason();
  found_.reset();
  if (reason != lldb::eStopReasonPlanComplete) read_thread(process, thread, interrupted);
  if (found_) return *found_;
  const bool stepped_on = reason == lldb::eStopReasonPlanComplete || reason == lldb::eStopReasonTrace ||
                          reason == lldb::eStopReasonBreakpoint;
  if (stepped_on) return Stop{.kind = Stop::Kind::requested, .thread = stepped, .description = "step"};
  if (interrupted) return Stop{.kind = Stop::Kind::interrupted, .thread = stepped, .description = "interrupted"};
  return Stop{.kind = Stop::Kind::lost, .thread = stepped, .description = "LLDB names no reason for the stop"};
}

// Is there a breakpoint of ours, or anything else, that explains the stop?
bool StopReader::read_threads(lldb::SBProcess& process, bool interrupted, ThreadId except) {
  bool explained = false;
  for (std::uint32_t i = 0; i < process.GetNumThreads(); ++i) {
    lldb::SBThread thread = process.GetThreadAtIndex(i);
    if (thread.GetThreadID() == except || thread.IsSuspended()) continue;  // a suspended one shows its last stop still
    const lldb::StopReason reason = thread.GetStopReason();
    explained |= reason == lldb::eStopReasonBreakpoint || reason == lldb::eStopReasonTrace;
    read_thread(process, thread, interrupted);
  }
  // LLDB 14 stays stopped, without a reason, where its step over one breakpoint ended at the next.
  return explained || ours_.has_run_in_stop(process);
}

void StopReader::read_thread(lldb::SBProcess& process, lldb::SBThread& thread, bool interrupted) {
  switch (thread.GetStopReason()) {
    case lldb::eStopReasonBreakpoint: return read_breakpoint(process, thread);
    case lldb::eStopReasonSignal: {
      const int signal = static_cast<int>(thread.GetStopReasonDataAtIndex(0));
      // The debug server stops the target by this signal; the target never gets it.
      if (interrupted && (signal == SIGSTOP || signal == SIGINT)) return;
      return note(Stop::Kind::signal, thread, signal);
    }
    case lldb::eStopReasonException: return note(Stop::Kind::signal, thread);
    case lldb::eStopReasonExec: return note(Stop::Kind::exec, thread);
    case lldb::eStopReasonTrace:  // LLDB's own step over a breakpoint, which another thread's stop has cut short
    case lldb::eStopReasonInvalid:
    case lldb::eStopReasonNone: return;
    default: return note(Stop::Kind::user, thread);
  }
}

void StopReader::read_breakpoint(lldb::SBProcess& process, lldb::SBThread& thread) {
  const std::size_t count = thread.GetStopReasonDataCount() / 2;
  if (count == 0) return note(Stop::Kind::user, thread);  // deleted by its own commands
  std::optional<lldb::break_id_t> ours;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto id = static_cast<lldb::break_id_t>(thread.GetStopReasonDataAtIndex(2 * i));
    if (ours_.owns(id)) ours = id;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto id = static_cast<lldb::break_id_t>(thread.GetStopReasonDataAtIndex(2 * i));
    // LLDB's own breakpoints have negative ids: the one that stops a target for all to see is the dynamic loader's.
    if (id < 0 && !ours) note(Stop::Kind::modules, thread);
    if (id > 0 && !ours_.owns(id) && is_hit_of_user(id, ours.has_value())) note(Stop::Kind::user, thread);
  }
  if (ours) ours_.dispatch(process, thread, *ours);
}

bool StopReader::is_hit_of_user(lldb::break_id_t id, bool shared) {
  // Where we have a breakpoint at the same address the stop can be ours alone, the user's condition being false: then
  // LLDB has not counted it.
  if (!shared) return true;
  lldb::SBBreakpoint breakpoint = target_.FindBreakpointByID(id);
  return breakpoint.IsValid() && !breakpoint.GetAutoContinue() && breakpoint.GetHitCount() != hit_counts_[id];
}

void StopReader::note(Stop::Kind kind, lldb::SBThread& thread, int code) {
  if (found_ && urgency(found_->kind) >= urgency(kind)) return;
  found_ = Stop{.kind = kind, .thread = thread.GetThreadID(), .code = code, .description = stop_description(thread)};
}

}  // namespace flamb
