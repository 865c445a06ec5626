#pragma once

#include <string>
#include <utility>
#include <vector>

#include "debugger.h"

namespace flamb {

// A host debugger whose target is what the test says. Everything that would run the target fails.
class FakeDebugger : public Debugger {
 public:
  std::vector<Module> mapped;  // what modules() gives
  TargetInfo info;             // what target() gives
  std::string printed;         // what print() was given

  std::string name() override { return "Fake 1.0"; }
  Result<TargetInfo> target() override { return info; }
  Result<std::vector<Module>> modules() override { return mapped; }
  Result<std::vector<ThreadId>> threads() override { return refuse(); }
  Result<ThreadId> selected_thread() override { return refuse(); }
  Result<std::uint64_t> read_register(ThreadId, Register) override { return refuse(); }
  Result<void> read_memory(Address, std::span<std::byte>) override { return refuse(); }
  Result<std::vector<Address>> callers(ThreadId, std::size_t) override { return refuse(); }
  Result<BreakpointId> set_breakpoint(Address, BreakpointHandler) override { return refuse(); }
  void remove_breakpoint(BreakpointId) override {}
  Result<std::vector<Address>> breakpoint_addresses() override { return refuse(); }
  void memory_changed(std::span<const MemoryRange>) override {}
  Result<Stop> launch() override { return refuse(); }
  Result<Stop> resume() override { return refuse(); }
  Result<Stop> step(ThreadId) override { return refuse(); }
  Result<CallOutcome> call(const std::string&, const CallObserver&, OtherThreads) override { return refuse(); }
  Result<void> expect_return_value(ThreadId) override { return refuse(); }
  Result<std::string> return_value(ThreadId, Address) override { return refuse(); }
  Result<void> suspend_user_breakpoints(bool) override { return refuse(); }
  void interrupt() override {}
  bool interrupt_requested() override { return false; }
  void print(std::string_view text) override { printed += text; }
  void progress(std::string_view) override {}

 private:
  static tl::unexpected<Error> refuse() { return fail(Fault::flamb, "the fake debugger cannot do this"); }
};

}  // namespace flamb
