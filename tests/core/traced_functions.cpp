#include "traced_functions.h"

#include <dlfcn.h>

#include <string_view>

asm(R"(
.text
.macro function name
  .p2align 4
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
.endm
.macro end name
  .cfi_endproc
  .size \name, .-\name
  .globl \name\()_end
\name\()_end:
.endm

function traced_add           # stack arguments: the seventh and eighth
  push %rbx
  .cfi_def_cfa_offset 16
  .cfi_offset %rbx, -16
  mov %rdi, %rbx
  add %rsi, %rbx
  add 16(%rsp), %rbx
  add 24(%rsp), %rbx
  mov %rbx, %rax
  pop %rbx
  .cfi_def_cfa_offset 8
  ret
end traced_add

function traced_global        # an operand relative to rip
  mov traced_number(%rip), %eax
  add %edi, %eax
  ret
end traced_global

function traced_branch        # a short jump among the first bytes
  test %edi, %edi
  je 1f
  lea 10(%rdi), %eax
  ret
1: mov $-1, %eax
  ret
end traced_branch

function traced_identity      # shorter than a patch
  mov %edi, %eax
  ret
end traced_identity
  .p2align 4

function traced_tail          # a jump to another patched function
  jmp traced_branch
end traced_tail
  .p2align 4

function traced_call          # calls what it is given, and does not keep rbx
  push %rbx
  .cfi_def_cfa_offset 16
  .cfi_offset %rbx, -16
  xor %ebx, %ebx
  call *%rdi
  lea 1(%rax, %rbx), %eax
  pop %rbx
  .cfi_def_cfa_offset 8
  ret
end traced_call

function traced_direct_call
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  mov %rsp, %rbp
  call call_traced_callee
  pop %rbp
  .cfi_def_cfa_offset 8
  ret
end traced_direct_call

function traced_loop          # cannot be patched
  xor %eax, %eax
1: inc %eax
  cmp %edi, %eax
  jne 1b
  ret
end traced_loop

# What stands for the agent: counts the call, and goes on as if nothing had been. The id's slot takes the continuation.
function test_agent_entry
  .cfi_def_cfa_offset 16
  push %rax
  .cfi_adjust_cfa_offset 8
  push %rcx
  .cfi_adjust_cfa_offset 8
  mov 16(%rsp), %eax
  lea test_agent_counts(%rip), %rcx
  incq (%rcx, %rax, 8)
  lea test_agent_continuations(%rip), %rcx
  mov (%rcx, %rax, 8), %rax
  mov %rax, 16(%rsp)
  pop %rcx
  .cfi_adjust_cfa_offset -8
  pop %rax
  .cfi_adjust_cfa_offset -8
  ret
end test_agent_entry

function call_stepping        # calls rdi with rsi, and has a signal at each instruction meanwhile
  push %rbx
  .cfi_def_cfa_offset 16
  .cfi_offset %rbx, -16
  mov $0x5EED, %ebx
  mov %rdi, %rax
  mov %rsi, %rdi
  pushf
  .cfi_adjust_cfa_offset 8
  orq $0x100, (%rsp)
  popf
  .cfi_adjust_cfa_offset -8
  call *%rax
  pushf
  .cfi_adjust_cfa_offset 8
  andq $~0x100, (%rsp)
  popf
  .cfi_adjust_cfa_offset -8
  pop %rbx
  .cfi_def_cfa_offset 8
  ret
end call_stepping
)");

extern "C" {
extern const char traced_add_end, traced_global_end, traced_branch_end, traced_identity_end, traced_tail_end,
    traced_call_end, traced_loop_end;

int traced_number = 100;
std::uint64_t test_agent_counts[16];
flamb::Address test_agent_continuations[16];
int (*traced_callee)() = nullptr;

int call_traced_callee() { return traced_callee(); }
}

namespace flamb {

constexpr std::size_t alignment = 16;  // of the traced functions

std::vector<StubLibrary::Function> traced_functions() {
  std::vector<StubLibrary::Function> result;
  const auto add = [&](Address entry, const char& end, std::string_view name) {
    const std::size_t size = address_of(&end) - entry;
    const std::size_t usable = size < patch_size ? alignment : size;  // as far as the next function
    result.push_back({static_cast<std::uint32_t>(result.size()),
                      {entry, size, {reinterpret_cast<const std::byte*>(entry), usable}},
                      name});
  };
  add(address_of(traced_add), traced_add_end, "traced_add");
  add(address_of(traced_global), traced_global_end, "traced_global");
  add(address_of(traced_branch), traced_branch_end, "traced_branch");
  add(address_of(traced_identity), traced_identity_end, "traced_identity");
  add(address_of(traced_tail), traced_tail_end, "traced_tail");
  add(address_of(traced_call), traced_call_end, "traced_call");
  add(address_of(traced_direct_call), traced_direct_call_end, "traced_direct_call");
  add(address_of(traced_loop), traced_loop_end, "traced_loop");
  return result;
}

Address free_address_near() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&test_agent_entry), &info);
  return (address_of(info.dli_fbase) - StubLibrary::max_size(16) - (1U << 20)) & ~Address{0xFFF};
}

}  // namespace flamb
