#include <csignal>
#include <regex>

#include "lldb_debugger.h"
#include "lldb_quiet.h"
#include "lldb_stop.h"
#include "proc.h"

// Calling an expression under our breakpoints. LLDB gives an expression up when a breakpoint is hit in it, but
// then keeps it alive as a thread plan which completes when the target is resumed for long enough. So the expression is
// made to hit a breakpoint at once, at an instruction of our own, before its real work; from there on it is a target
// that runs.
namespace flamb {

namespace {

constexpr std::byte kReturnInstruction{0xc3};

// One return instruction of our own in the target.
class Trap {
 public:
  static Result<std::unique_ptr<Trap>> make(lldb::SBProcess process) {
    lldb::SBError error;
    const Address where = process.AllocateMemory(1, lldb::ePermissionsReadable | lldb::ePermissionsExecutable, error);
    if (error.Success()) process.WriteMemory(where, &kReturnInstruction, 1, error);
    if (error.Success()) return std::make_unique<Trap>(process, where);
    return fail(Fault::flamb, fmt::format("LLDB cannot prepare the call in the target: {}", error.GetCString()));
  }
  Trap(lldb::SBProcess process, Address where) : process_(std::move(process)), where_(where) {}
  ~Trap() { process_.DeallocateMemory(where_); }
  Trap(const Trap&) = delete;
  Trap& operator=(const Trap&) = delete;

  // The expression with a call of the instruction before it; columns and lines are those of the expression alone.
  std::string prefixed(const std::string& expression) const {
    return fmt::format("((void(*)(void)){:#x}ULL)();\n#line 1 \"<user expression>\"\n{}", where_, expression);
  }
  Address where() const { return where_; }

 private:
  lldb::SBProcess process_;
  Address where_;
};

// lldb-server has its current thread make the system call that allocates memory. A thread that it has sent a SIGSTOP,
// for another's sake, stops at that in its place, and the call's number is taken for its result, for good.
void choose_allocating_thread(lldb::SBDebugger& debugger, lldb::SBProcess process) {
  for (std::uint32_t index = 0; index < process.GetNumThreads(); ++index) {
    const lldb::tid_t thread = process.GetThreadAtIndex(index).GetThreadID();
    if (is_pending(static_cast<pid_t>(thread), SIGSTOP)) continue;
    lldb::SBCommandReturnObject ignored;
    lldb::SBExecutionContext here(process);  // without it, the process is the one that was there when our command began
    const std::string command = fmt::format("process plugin packet send Hg{:x}", thread);
    debugger.GetCommandInterpreter().HandleCommand(command.c_str(), here, ignored);
    return;
  }
}

// The same comes of any other signal that is on its way, and where they come by the thousand no thread is free of them.
// So what an expression needs is allocated until it succeeds, and given back: LLDB then has it at hand and asks no
// more. What failed stays taken: LLDB would use it as well.
void stock_memory(lldb::SBProcess process) {
  constexpr int most_tries = 50;
  constexpr std::size_t enough = 16384;      // for one expression, in whole pages, so that it is not shared
  constexpr Address first_usable = 0x10000;  // no process has memory below, a system call's number is
  constexpr std::uint32_t readable = lldb::ePermissionsReadable;
  constexpr std::uint32_t writable = lldb::ePermissionsWritable;
  constexpr std::uint32_t executable = lldb::ePermissionsExecutable;
  // What LLDB asks for, the first to see whether it can run code of its own at all.
  for (const std::uint32_t permissions :
       {readable | writable | executable, readable | executable, readable | writable, readable}) {
    for (int tries = 0; tries < most_tries; ++tries) {
      lldb::SBError error;
      const Address where = process.AllocateMemory(enough, permissions, error);
      if (error.Fail() || where < first_usable) continue;
      process.DeallocateMemory(where);
      break;
    }
  }
}

// Threads that stay stopped while another one runs. Without that LLDB takes the stop they are in for a new one.
class SuspendedThreads {
 public:
  SuspendedThreads(lldb::SBProcess process, ThreadId but) {
    for (std::uint32_t index = 0; index < process.GetNumThreads(); ++index) {
      lldb::SBThread thread = process.GetThreadAtIndex(index);
      if (thread.GetThreadID() != but && !thread.IsSuspended() && thread.Suspend()) threads_.push_back(thread);
    }
  }
  ~SuspendedThreads() {
    for (lldb::SBThread& thread : threads_) thread.Resume();
  }
  SuspendedThreads(const SuspendedThreads&) = delete;
  SuspendedThreads& operator=(const SuspendedThreads&) = delete;

 private:
  std::vector<lldb::SBThread> threads_;
};

lldb::SBExpressionOptions options_of_call(Debugger::OtherThreads others) {
  lldb::SBExpressionOptions options;
  options.SetIgnoreBreakpoints(false);
  options.SetUnwindOnError(false);
  options.SetTrapExceptions(false);
  options.SetTimeoutInMicroSeconds(0);
  // Where all threads run, that is because one of them may hold a lock that the call waits for.
  options.SetStopOthers(others == Debugger::OtherThreads::stay);
  options.SetTryAllThreads(others == Debugger::OtherThreads::run);
  if (others == Debugger::OtherThreads::stay) options.SetLanguage(lldb::eLanguageTypeC_plus_plus);
  return options;
}

std::string error_text(const lldb::SBError& error) {
  std::string text = error.GetCString() ? error.GetCString() : "the expression cannot be evaluated";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.starts_with("error: ")) text.erase(0, 7);
  return text;
}

// The value of an expression whose plan has completed on the thread, as `expression` prints it.
std::string value_text(lldb::SBDebugger debugger, lldb::SBThread& thread) {
  lldb::SBStream status;
  thread.GetStatus(status);
  const std::string text(status.GetData() ? status.GetData() : "");
  const auto completed = text.find("Completed expression: ");
  if (completed == text.npos) return {};
  std::smatch variable;
  if (!std::regex_search(text.begin() + static_cast<std::ptrdiff_t>(completed), text.end(), variable,
                         std::regex(R"(\) (\$\d+) = )"))) {
    return {};
  }
  lldb::SBCommandReturnObject printed;
  debugger.GetCommandInterpreter().HandleCommand(("expression -- " + variable.str(1)).c_str(), printed);
  std::string value = printed.GetOutput() ? printed.GetOutput() : "";
  while (!value.empty() && value.back() == '\n') value.pop_back();
  return value;
}

// Was the expression's code running when LLDB gave it up?
bool was_interrupted(const lldb::SBError& error) {
  const auto code = error.GetError();
  return error.Fail() && (code == lldb::eExpressionInterrupted || code == lldb::eExpressionHitBreakpoint ||
                          code == lldb::eExpressionStoppedForDebug);
}

}  // namespace

Result<CallOutcome> LldbDebugger::call(const std::string& expression, const CallObserver& calling,
                                       OtherThreads others) {
  const auto caller = selected_thread();
  if (!caller) return tl::unexpected<Error>(caller.error());
  Selection selection(process());
  std::optional<SuspendedThreads> suspended;
  if (others == OtherThreads::stay) suspended.emplace(process(), *caller);
  if (is_local()) choose_allocating_thread(debugger_, process());
  stock_memory(process());
  signal_returns_.watch();
  const auto trap = Trap::make(process());
  if (!trap) return tl::unexpected<Error>(trap.error());

  // A stop in mid-call would lose the value.
  const ChangedSetting no_module_stops(debugger_, "target.process.stop-on-sharedlibrary-events", "false");
  breakpoints_.forget_requests();
  StopReader reader(target_, breakpoints_, is_local());
  const auto at_trap = set_breakpoint((*trap)->where(), [&](ThreadId thread) {
    const auto sp = read_register(thread, Register::rsp);
    Address code = 0;
    if (sp) std::ignore = read_memory(*sp, std::as_writable_bytes(std::span(&code, 1)));
    calling(thread, code);
    return Verdict::go_on;
  });
  if (!at_trap) return tl::unexpected<Error>(at_trap.error());
  lldb::SBFrame frame = process().GetThreadByID(*caller).GetSelectedFrame();
  lldb::SBValue value;
  {
    const QuietStop quiet(debugger_);
    value = frame.EvaluateExpression((*trap)->prefixed(expression).c_str(), options_of_call(others));
  }
  breakpoints_.set_in_expression(true);
  auto outcome = was_interrupted(value.GetError()) ? finish_call(*caller, reader)
                                                   : fail(Fault::user, error_text(value.GetError()));
  breakpoints_.set_in_expression(false);
  breakpoints_.remove(*at_trap);
  if (!outcome || outcome->finished) selection.restore();
  return outcome;
}

// The target is stopped within the expression; runs it to its end.
Result<CallOutcome> LldbDebugger::finish_call(ThreadId caller, StopReader& reader) {
  for (;;) {
    lldb::SBProcess current = process();
    lldb::SBThread thread = current.GetThreadByID(caller);
    const bool finished = thread.IsValid() && thread.GetStopReason() == lldb::eStopReasonPlanComplete;
    const auto stop = reader.read(current, interrupts_.pending(), finished ? caller : 0);
    if (finished) return CallOutcome{true, value_text(debugger_, thread), {}};
    if (stop) {
      has_moved_ = true;
      if (stop->kind == Stop::Kind::interrupted) interrupts_.reported();
      if (stop->thread != 0) current.SetSelectedThreadByID(stop->thread);
      return CallOutcome{false, {}, *stop};
    }
    if (auto ran = run_once(&lldb::SBProcess::Continue); !ran) return tl::unexpected<Error>(ran.error());
  }
}

}  // namespace flamb
