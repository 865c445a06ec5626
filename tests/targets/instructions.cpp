// Instructions are counted exactly. The functions are written by hand, so the numbers are known; `rep` is one
// instruction each time, as the processor retires it.
// builds: gcc-O0 clang-O2
// collectors: stepping
//
// flamb: capture counted --measure instructions
// expect: invocation 1
//   counted 39
//   counted;counted_leaf 15
//
// flamb: capture repeated --measure instructions
// expect: invocation 1
//   repeated 9
//
// flamb: capture chooser --measure instructions
// expect: invocation 1
//   chooser 9
//   chooser;counted_leaf 3
#include "target.h"

extern "C" char room[256];
__attribute__((used)) char room[256];

// counted: 2 before, 5 rounds of 7, 2 after, and 3 a call of the leaf.
// repeated: two rep instructions among 9. chooser: jumps through a table and a register.
asm(R"(
.text
.globl counted
.type counted, @function
counted:
  .cfi_startproc
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbx, 0
  movl $5, %ebx
1:
  addl $1, %eax
  testl %ebx, %ebx
  je 2f
  call counted_leaf
  nop
  decl %ebx
  jnz 1b
2:
  popq %rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rbx
  ret
  .cfi_endproc
.size counted, . - counted

.globl counted_leaf
.type counted_leaf, @function
counted_leaf:
  .cfi_startproc
  xorl %eax, %eax
  incl %eax
  ret
  .cfi_endproc
.size counted_leaf, . - counted_leaf

.globl repeated
.type repeated, @function
repeated:
  .cfi_startproc
  leaq room(%rip), %rdi
  movl $200, %ecx
  xorl %eax, %eax
  rep stosb
  leaq room(%rip), %rsi
  leaq 100+room(%rip), %rdi
  movl $100, %ecx
  rep movsb
  ret
  .cfi_endproc
.size repeated, . - repeated

.globl chooser
.type chooser, @function
chooser:
  .cfi_startproc
  leaq 3f(%rip), %rax
  jmp *%rax
  ud2
3:
  leaq counted_leaf(%rip), %rdx
  call *%rdx
  movl $3, %ecx
  cmpl $3, %ecx
  jne 4f
  jmp 4f
  ud2
4:
  ret
  .cfi_endproc
.size chooser, . - chooser
)");
extern "C" void counted();
extern "C" void repeated();
extern "C" void chooser();

int main() {
  counted();
  repeated();
  chooser();
  sink = room[0];
  return 0;
}
