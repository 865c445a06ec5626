// Signals by the clock: whenever the target stops, one is soon on its way. Memory for an expression cannot be had by a
// thread that has one coming, so it takes several tries.
// flags: -fno-optimize-sibling-calls
//
// flamb: capture work
// expect: invocation 1
//   work(int) 1
//   work(int);leaf(int) 2
// stopped-in: main
//
// flamb: apply work(3)
// expect: invocation 1
//   work(int) 1
//   work(int);leaf(int) 2
// stopped-in: main
#include <sys/time.h>

#include <csignal>

#include "target.h"

FUNCTION void leaf(int n) { sink = n; }

FUNCTION void work(int n) {
  leaf(n);
  leaf(n + 1);
  sink = n;
}

int main() {
  signal(SIGALRM, SIG_IGN);  // a debugger is told of it all the same
  const itimerval often = {{0, 10'000}, {0, 10'000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  work(1);
  sink = 0;
  return 0;
}
