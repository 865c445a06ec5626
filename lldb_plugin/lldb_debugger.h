#pragma once

#include <lldb/API/LLDB.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "debugger.h"
#include "lldb_breakpoints.h"
#include "lldb_interrupt.h"
#include "lldb_signal_returns.h"
#include "lldb_state.h"
#include "lldb_stop.h"
#include "lldb_terminal.h"

namespace flamb {

// LLDB as core sees it, over its stable C++ API, for the time of one command: it takes LLDB's asynchronous mode and
// Ctrl-C at the start and gives them back at the end. What is printed goes into the command's result.
class LldbDebugger : public Debugger {
 public:
  LldbDebugger(lldb::SBDebugger debugger, lldb::SBCommandReturnObject& result);
  ~LldbDebugger() override;

  std::string name() override;
  Result<TargetInfo> target() override;
  Result<std::vector<Module>> modules() override;
  Result<std::vector<ThreadId>> threads() override;
  Result<ThreadId> selected_thread() override;
  Result<std::uint64_t> read_register(ThreadId thread, Register which) override;
  Result<void> read_memory(Address from, std::span<std::byte> bytes) override;
  Result<std::vector<Address>> callers(ThreadId thread, std::size_t limit) override;
  Result<BreakpointId> set_breakpoint(Address where, BreakpointHandler handler) override;
  bool jump(ThreadId thread, Address to) override { return breakpoints_.jump(thread, to); }
  void remove_breakpoint(BreakpointId id) override;
  Result<std::vector<Address>> breakpoint_addresses() override;
  void memory_changed(std::span<const MemoryRange> where) override;
  Result<Stop> launch() override;
  Result<Stop> resume() override;
  Result<Stop> step(ThreadId thread) override;
  Result<CallOutcome> call(const std::string& expression, const CallObserver& calling, OtherThreads others) override;
  Result<void> expect_return_value(ThreadId thread) override;
  Result<std::string> return_value(ThreadId thread, Address function) override;
  Result<void> suspend_user_breakpoints(bool suspend) override;
  void interrupt() override;
  bool interrupt_requested() override;
  void print(std::string_view text) override;
  void progress(std::string_view line) override;

  // Has the target run, and is it somewhere else now?
  bool has_moved() const { return has_moved_; }

 private:
  lldb::SBProcess process() { return target_.GetProcess(); }
  Result<lldb::SBThread> stopped_thread(ThreadId thread);
  Result<void> need_process();
  bool has_process();
  bool is_local();
  void wait_for_end();
  Result<void> run_once(const std::function<lldb::SBError(lldb::SBProcess&)>& run);
  Result<CallOutcome> finish_call(ThreadId caller, StopReader& reader);
  void watch_modules();

  lldb::SBDebugger debugger_;
  lldb::SBCommandReturnObject& result_;
  SynchronousMode synchronous_;
  lldb::SBTarget target_;
  Interrupts interrupts_;
  Breakpoints breakpoints_;
  SignalReturns signal_returns_;
  std::optional<ChangedSetting> module_stops_;
  std::optional<TerminalInput> input_;  // from the first run of the target on
  std::vector<lldb::break_id_t> suspended_breakpoints_;
  std::vector<lldb::watch_id_t> suspended_watchpoints_;
  std::map<ThreadId, std::uint64_t> first_arguments_;  // rdi at entry: for a value returned in memory, its place
  bool has_moved_ = false;
  bool shows_progress_ = false;
};

}  // namespace flamb
