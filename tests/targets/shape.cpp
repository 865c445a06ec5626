// Shapes of code: endbr64 at every entry, no frame pointer, functions of one instruction, many arguments, big frames.
// flags: -fno-optimize-sibling-calls -fcf-protection=full -fomit-frame-pointer
//
// flamb: capture work
// expect: invocation 1
//   work(int) 1
//   work(int);one_instruction 3
//   work(int);jump_instruction 1
//   work(int);leaf(int) 1
//   work(int);many(int, int, int, int, int, int, int, int) 1
//   work(int);many(int, int, int, int, int, int, int, int);leaf(int) 1
//   work(int);big(int) 1
//   work(int);big(int);leaf(int) 2
//   work(int);dynamic(int) 1
//   work(int);dynamic(int);leaf(int) 1
// stopped-in: main
//
// flamb: capture one_instruction
// expect: invocation 1
//   one_instruction 1
// stopped-in: work
#include "target.h"

// The second is a tail call and nothing else.
asm(R"(
.text
.p2align 4
.globl one_instruction
.type one_instruction, @function
one_instruction:
  .cfi_startproc
  ret
  .cfi_endproc
.size one_instruction, . - one_instruction
.p2align 4
.globl jump_instruction
.type jump_instruction, @function
jump_instruction:
  .cfi_startproc
  jmp one_instruction
  .cfi_endproc
.size jump_instruction, . - jump_instruction
.p2align 4
)");
extern "C" void one_instruction();
extern "C" void jump_instruction();

FUNCTION void leaf(int n) { sink = n; }

FUNCTION int many(int a, int b, int c, int d, int e, int f, int g, int h) {
  leaf(h);
  sink = a;
  return a + b + c + d + e + f + g + h;
}

FUNCTION void big(int n) {
  volatile char room[20000];
  room[0] = static_cast<char>(n);
  leaf(room[0]);
  leaf(n);
  room[19999] = room[0];
}

FUNCTION void dynamic(int n) {
  volatile char* room = static_cast<volatile char*>(__builtin_alloca(static_cast<unsigned>(n) * 100));
  room[0] = 1;
  leaf(room[0]);
  room[n] = 2;
}

FUNCTION void work(int n) {
  one_instruction();
  one_instruction();
  jump_instruction();
  leaf(n);
  sink = many(1, 2, 3, 4, 5, 6, 7, 8);
  big(n);
  dynamic(n);
  sink = n;
}

int main() {
  work(1);
  work(2);
  return 0;
}
