#include <lldb/API/LLDB.h>

#include <sstream>
#include <string>

#include "contract.h"
#include "lldb_debugger.h"

// Hosts the contract suite in LLDB: `flamb-contract CHECK` runs one check and says what failed.
namespace {

std::string output_of(lldb::SBDebugger debugger, const std::string& command) {
  lldb::SBCommandReturnObject result;
  debugger.GetCommandInterpreter().HandleCommand(command.c_str(), result);
  return result.GetOutput() ? result.GetOutput() : "";
}

std::string state_of(lldb::SBDebugger debugger) {
  std::ostringstream state;
  lldb::SBTarget target = debugger.GetSelectedTarget();
  for (std::uint32_t i = 0; i < target.GetNumBreakpoints(); ++i) {
    lldb::SBBreakpoint breakpoint = target.GetBreakpointAtIndex(i);
    state << "breakpoint " << breakpoint.GetID() << (breakpoint.IsEnabled() ? " on" : " off") << '\n';
  }
  lldb::SBThread thread = target.GetProcess().GetSelectedThread();
  state << "thread " << thread.GetIndexID() << " frame " << thread.GetSelectedFrame().GetFrameID() << '\n';
  state << output_of(debugger, "settings show");
  return state.str();
}

class ContractCommand : public lldb::SBCommandPluginInterface {
 public:
  bool DoExecute(lldb::SBDebugger debugger, char** words, lldb::SBCommandReturnObject& result) override {
    const bool async = debugger.GetAsync();
    const std::string settings = output_of(debugger, "settings show");
    std::string failures;
    {
      flamb::LldbDebugger adapter(debugger, result);
      flamb::contract::Host host{
          .debugger = adapter,
          .break_at = [&](const std::string& function) { output_of(debugger, "breakpoint set -n " + function); },
          .state = [&] { return state_of(debugger); }};
      failures = words && words[0] ? flamb::contract::run(host, words[0]) : "name a check\n";
    }
    if (debugger.GetAsync() != async) failures += "the asynchronous mode is not as before\n";
    if (output_of(debugger, "settings show") != settings) failures += "the settings are not as before\n";
    result.AppendMessage(failures.empty() ? "contract holds" : failures.c_str());
    result.SetStatus(failures.empty() ? lldb::eReturnStatusSuccessFinishResult : lldb::eReturnStatusFailed);
    return failures.empty();
  }
};

}  // namespace

namespace lldb {

__attribute__((visibility("default"))) bool PluginInitialize(SBDebugger debugger) {
  return debugger.GetCommandInterpreter().AddCommand("flamb-contract", new ContractCommand, "Runs a check.").IsValid();
}

}  // namespace lldb
