#include "lldb_debugger.h"
#include "lldb_return_value.h"

// The parts of the adapter that let the target run.
namespace flamb {

Result<Stop> LldbDebugger::launch() {
  input_.reset();
  module_stops_.reset();
  // The target's own information holds the arguments, the environment and all settings that `run` goes by. Not through
  // the command: it waits two seconds for input to be passed on, which does not begin before the target runs.
  lldb::SBLaunchInfo launch = target_.GetLaunchInfo();
  launch.SetLaunchFlags(launch.GetLaunchFlags() | lldb::eLaunchFlagStopAtEntry);
  lldb::SBError error;
  lldb::SBProcess started = target_.Launch(launch, error);
  if (!error.Success() || !has_process()) {
    const char* why = error.GetCString();  // null where there is no error
    return fail(Fault::target, fmt::format("LLDB could not start the program: {}", why ? why : "it is not there"),
                "see that 'process launch' works");
  }
  has_moved_ = true;
  watch_modules();
  lldb::SBThread thread = started.GetThreadAtIndex(0);
  return Stop{.kind = Stop::Kind::requested, .thread = thread.GetThreadID(), .description = "entry"};
}

Result<void> LldbDebugger::run_once(const std::function<lldb::SBError(lldb::SBProcess&)>& run) {
  lldb::SBProcess current = process();
  if (!input_) input_.emplace(debugger_, current);
  interrupts_.run_begins(current);
  const lldb::SBError error = run(current);
  interrupts_.run_ends();
  if (!error.Success())
    return fail(Fault::flamb, fmt::format("LLDB could not resume the target: {}", error.GetCString()));
  if (breakpoints_.failure().empty()) return {};
  return fail(Fault::flamb, fmt::format("the work at a breakpoint failed: {}", breakpoints_.failure()));
}

Result<Stop> LldbDebugger::resume() {
  if (auto ready = need_process(); !ready) return tl::unexpected<Error>(ready.error());
  has_moved_ = true;
  signal_returns_.watch();
  StopReader reader(target_, breakpoints_, is_local());
  breakpoints_.forget_requests();
  for (;;) {
    if (auto ran = run_once(&lldb::SBProcess::Continue); !ran) return tl::unexpected<Error>(ran.error());
    lldb::SBProcess current = process();
    auto stop = reader.read(current, interrupts_.pending());
    if (!stop) continue;
    if (stop->kind == Stop::Kind::interrupted) interrupts_.reported();
    if (stop->thread != 0) current.SetSelectedThreadByID(stop->thread);
    return *stop;
  }
}

Result<Stop> LldbDebugger::step(ThreadId thread) {
  auto stepped = stopped_thread(thread);
  if (!stepped) return tl::unexpected<Error>(stepped.error());
  if (interrupts_.pending()) {
    interrupts_.reported();
    return Stop{.kind = Stop::Kind::interrupted, .description = "interrupted"};
  }
  has_moved_ = true;
  Selection selection(process());
  StopReader reader(target_, breakpoints_, is_local());
  breakpoints_.forget_requests();
  const auto ran = run_once([&](lldb::SBProcess&) {
    lldb::SBError error;
    stepped->StepInstruction(false, error);
    return error;
  });
  if (!ran) return tl::unexpected<Error>(ran.error());
  lldb::SBProcess current = process();
  const Stop stop = reader.read_step(current, thread, interrupts_.pending());
  if (stop.kind == Stop::Kind::requested) {
    selection.restore();
  } else if (stop.thread != 0) {
    current.SetSelectedThreadByID(stop.thread);
  }
  if (stop.kind == Stop::Kind::interrupted) interrupts_.reported();
  return stop;
}

Result<void> LldbDebugger::expect_return_value(ThreadId thread) {
  const auto argument = read_register(thread, Register::rdi);
  if (!argument) return tl::unexpected<Error>(argument.error());
  first_arguments_[thread] = *argument;
  return {};
}

Result<std::string> LldbDebugger::return_value(ThreadId thread, Address function) {
  auto stopped = stopped_thread(thread);
  if (!stopped) return tl::unexpected<Error>(stopped.error());
  lldb::SBFunction entered = target_.ResolveLoadAddress(function).GetFunction();
  lldb::SBType type = entered.GetType().GetFunctionReturnType();
  if (!type.IsValid()) {
    return fail(Fault::target,
                fmt::format("there is no debug information that says what the function at {:#x} returns", function),
                "build the program with -g, or use --return filename");
  }
  const auto argument = first_arguments_.find(thread);
  const auto known = argument == first_arguments_.end() ? std::nullopt : std::optional(argument->second);
  return returned_value(stopped->GetFrameAtIndex(0), type, known);
}

}  // namespace flamb
