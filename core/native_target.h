#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "debugger.h"

namespace flamb {

using GeneralRegisters = std::array<std::uint64_t, 17>;

// A stopped x86-64 Linux process on this machine, read past its debugger: a register costs 1 µs so, and 50 times that
// through a scripted debugger. Only for the thread that traces the process: the kernel answers no other.
class NativeTarget {
 public:
  explicit NativeTarget(pid_t pid) : pid_(pid) {}

  // Nothing when the kernel does not answer: the thread is gone, runs, or is traced by another.
  std::optional<std::uint64_t> read_register(ThreadId thread, Register which);

  // In the order of Register, but for rip. 0 are rcx, r11 and the flags that a debugger's steps set: they can differ
  // when a thread is back where a signal interrupted it. Nothing as above.
  std::optional<GeneralRegisters> read_registers(ThreadId thread);

  // Is a signal on its way to the thread or to the process, be it blocked or not?
  static bool has_pending_signal(ThreadId thread);

  // False when the memory cannot be read whole, or when one of the bytes may be that of a breakpoint: the debugger has
  // to be asked then, which knows what is under it.
  bool read_memory(Address from, std::span<std::byte> bytes) const;

  // The target has run, or is about to: what was read no longer holds.
  void forget() { registers_of_ = 0; }

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
  ThreadId registers_of_ = 0;  // whose `registers_` are, 0 for nobody's
  user_regs_struct registers_{};
};

// The ELF files mapped into a process, from /proc: those with code, each with its load bias, the program first.
Result<std::vector<Module>> mapped_modules(pid_t pid);

}  // namespace flamb
