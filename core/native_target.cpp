#include "native_target.h"

#include <sys/ptrace.h>
#include <sys/uio.h>

#include <algorithm>
#include <csignal>

namespace flamb {
namespace {

std::uint64_t value_of(const user_regs_struct& registers, Register which) {
  switch (which) {
    case Register::rax: return registers.rax;
    case Register::rcx: return registers.rcx;
    case Register::rdx: return registers.rdx;
    case Register::rbx: return registers.rbx;
    case Register::rsp: return registers.rsp;
    case Register::rbp: return registers.rbp;
    case Register::rsi: return registers.rsi;
    case Register::rdi: return registers.rdi;
    case Register::r8: return registers.r8;
    case Register::r9: return registers.r9;
    case Register::r10: return registers.r10;
    case Register::r11: return registers.r11;
    case Register::r12: return registers.r12;
    case Register::r13: return registers.r13;
    case Register::r14: return registers.r14;
    case Register::r15: return registers.r15;
    case Register::rip: return registers.rip;
    case Register::rflags: return registers.eflags;
  }
  return 0;
}

}  // namespace

std::optional<std::uint64_t> NativeTarget::read_register(ThreadId thread, Register which) {
  if (thread == 0) return std::nullopt;
  if (registers_of_ != thread) {
    registers_of_ = 0;
    if (ptrace(PTRACE_GETREGS, static_cast<pid_t>(thread), nullptr, &registers_) != 0) return std::nullopt;
    registers_of_ = thread;
  }
  return value_of(registers_, which);
}

std::optional<GeneralRegisters> NativeTarget::read_registers(ThreadId thread) {
  constexpr std::uint64_t set_by_steps = 0x10100;  // the trap and resume flags, Intel SDM volume 1, 3.4.3
  if (!read_register(thread, Register::rsp)) return std::nullopt;
  GeneralRegisters values{};
  for (std::size_t index = 0; index < 16; ++index) {
    const auto which = static_cast<Register>(index);
    if (which != Register::rcx && which != Register::r11) values[index] = value_of(registers_, which);
  }
  values[16] = registers_.eflags & ~set_by_steps;
  return values;
}

bool NativeTarget::has_pending_signal(ThreadId thread) {
  const auto count = [&](std::uint32_t queue) {
    __ptrace_peeksiginfo_args first{0, queue, 1};
    siginfo_t found;
    return ptrace(PTRACE_PEEKSIGINFO, static_cast<pid_t>(thread), &first, &found);
  };
  return count(0) > 0 || count(PTRACE_PEEKSIGINFO_SHARED) > 0;
}

bool NativeTarget::read_memory(Address from, std::span<std::byte> bytes) const {
  constexpr std::byte int3{0xcc};
  iovec local{bytes.data(), bytes.size()};
  iovec remote{reinterpret_cast<void*>(from), bytes.size()};  // NOLINT: an address in the other process
  const ssize_t read = process_vm_readv(pid_, &local, 1, &remote, 1, 0);
  if (read < 0 || static_cast<std::size_t>(read) != bytes.size()) return false;
  return std::find(bytes.begin(), bytes.end(), int3) == bytes.end();
}

}  // namespace flamb
