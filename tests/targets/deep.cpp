// A deep recursion: the work must grow with the calls, not with their square, and no level may be lost.
// flags: -fno-optimize-sibling-calls
// builds: gcc-O2
//
// flamb: capture work --collapse-recursion
// expect: invocation 1
//   work(int) 301
//   work(int);leaf(int) 301
// stopped-in: main
//
// flamb: capture work --max-depth 2
// expect: invocation 1
//   work(int) 1
//   work(int);leaf(int) 1
//   work(int);work(int) 600
// stopped-in: main
#include "target.h"

FUNCTION void leaf(int n) { sink = n; }

FUNCTION int work(int n) {
  leaf(n);
  int below = n > 0 ? work(n - 1) : 0;
  sink = below;
  return below + 1;
}

int main() {
  sink = work(300);
  sink = work(300);
  return 0;
}
