#include <regex>

#include "lldb_debugger.h"
#include "lldb_quiet.h"
#include "lldb_stop.h"

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

lldb::SBExpressionOptions options_of_call() {
  lldb::SBExpressionOptions options;
  options.SetIgnoreBreakpoints(false);
  options.SetUnwindOnError(false);
  options.SetTrapExceptions(false);
  options.SetTimeoutInMicroSeconds(0);
  // All threads run, as one of them may hold a lock that the call waits for.
  options.SetStopOthers(false);
  options.SetTryAllThreads(true);
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

Result<CallOutcome> LldbDebugger::call(const std::string& expression, const CallObserver& calling) {
  const auto caller = selected_thread();
  if (!caller) return tl::unexpected<Error>(caller.error());
  Selection selection(process());
  const auto trap = Trap::make(process());
  if (!trap) return tl::unexpected<Error>(trap.error());

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
    value = frame.EvaluateExpression((*trap)->prefixed(expression).c_str(), options_of_call());
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
      interrupts_.reported();
      if (stop->thread != 0) current.SetSelectedThreadByID(stop->thread);
      return CallOutcome{false, {}, *stop};
    }
    if (auto ran = run_once(&lldb::SBProcess::Continue); !ran) return tl::unexpected<Error>(ran.error());
  }
}

}  // namespace flamb
