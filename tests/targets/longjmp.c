// longjmp over frames inside the trigger closes them; what follows belongs to the frame that called setjmp.
// flags: -fno-optimize-sibling-calls -fno-builtin -U_FORTIFY_SOURCE
//
// flamb: capture work
// expect: invocation 1
//   work 1
//   work;_setjmp 1
//   work;descend 1
//   work;descend;descend 1
//   work;descend;descend;descend 1
//   work;descend;descend;descend;longjmp 1
//   work;leaf 2
// stopped-in: main
//
// siglongjmp, and setjmp in a frame below the trigger.
// flamb: capture outer
// expect: invocation 1
//   outer 1
//   outer;inner 2
//   outer;inner;__sigsetjmp 2
//   outer;inner;throw_back 2
//   outer;inner;throw_back;leaf 2
//   outer;inner;throw_back;siglongjmp 2
//   outer;inner;leaf 2
//   outer;leaf 1
// stopped-in: main
//
// The jump goes above the trigger: the invocation is written, and said to be incomplete.
// flamb: capture escape
// expect: invocation 1
//   escape 1
//   escape;leaf 1
//   escape;jump_out 1
//   escape;jump_out;longjmp 1
// incomplete: longjmp
#include <setjmp.h>

#include "target.h"

static jmp_buf here;
static sigjmp_buf there;
static jmp_buf above;

FUNCTION void leaf(int n) { sink = n; }

FUNCTION void descend(int n) {
  if (n == 0) longjmp(here, 1);
  descend(n - 1);
  sink = n;
}

FUNCTION void work(int n) {
  if (setjmp(here) == 0) {
    descend(n);
  } else {
    leaf(n);
  }
  leaf(n);
  sink = n;
}

FUNCTION void throw_back(int n) {
  leaf(n);
  siglongjmp(there, n);
}

FUNCTION void inner(int n) {
  if (sigsetjmp(there, 1) == 0) throw_back(n);
  leaf(n);
  sink = n;
}

FUNCTION void outer(int n) {
  inner(n);
  inner(n);
  leaf(n);
  sink = n;
}

FUNCTION void jump_out(int n) {
  sink = n;
  longjmp(above, n);
}

FUNCTION void escape(int n) {
  leaf(n);
  jump_out(n);
  leaf(n);
  sink = n;
}

int main(void) {
  work(2);
  outer(1);
  if (setjmp(above) == 0) escape(1);
  leaf(0);
  return 0;
}
