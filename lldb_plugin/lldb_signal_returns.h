#pragma once

#include <lldb/API/LLDB.h>

#include <set>

#include "lldb_breakpoints.h"

namespace flamb {

// Watches where signal handlers return. A signal that comes while LLDB steps a thread off a breakpoint has the thread
// step into the signal's handler, which LLDB takes for the step: when the handler has returned, the thread hits the
// breakpoint once more. All handlers return through one place of the C library.
class SignalReturns {
 public:
  SignalReturns(lldb::SBTarget target, Breakpoints& breakpoints)
      : target_(std::move(target)), breakpoints_(breakpoints) {}

  // Looks into the modules that have been loaded since the last time.
  void watch();

 private:
  bool watch(lldb::SBModule& module);  // false: it is not loaded yet
  void returns(ThreadId thread);

  lldb::SBTarget target_;
  Breakpoints& breakpoints_;
  std::uint32_t modules_ = 0;  // how many there were when all were loaded
  std::set<Address> watched_;
};

}  // namespace flamb
