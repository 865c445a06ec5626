// A handler of signals that come by the clock, which runs in the middle of a debugger's step off a breakpoint: the hit
// comes once more after it. It is a function of the C library that nothing else calls, so that it has no frame.
// flags: -fno-optimize-sibling-calls
// collectors: breakpoints
//
// flamb: capture work
// expect: invocation 1
//   work(int) 1
//   work(int);leaf(int) 200
// stopped-in: main
//
// In a second run the C library is known before it is loaded.
// both: kill
// flamb: capture work
// expect: invocation 1
//   work(int) 1
//   work(int);leaf(int) 200
// stopped-in: main
#include <dlfcn.h>
#include <sys/time.h>

#include <csignal>

#include "target.h"

FUNCTION void leaf(int n) { sink = n; }

FUNCTION void work(int n) {
  for (int i = 0; i < 200; ++i) leaf(n);
  sink = n;
}

int main() {
  signal(SIGALRM, reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "abs")));
  const itimerval often = {{0, 10'000}, {0, 10'000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  work(1);
  sink = 0;
  return 0;
}
