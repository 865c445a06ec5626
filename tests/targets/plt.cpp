// Calls through the PLT, bound on the first call: the callee's own name, and no frame of the loader. The library's
// IFUNC is resolved then too: what was chosen has a frame, the resolver's run is not counted.
// flags: -fno-optimize-sibling-calls -fno-builtin
// link: -Wl,-z,lazy
// library: plt_library.cpp
//
// flamb: capture work
// expect: invocation 1
//   work(int) 1
//   work(int);library_add(int) 2
//   work(int);library_add(int);library_leaf(int) 2
//   work(int);chosen_fast(int) 2
//   work(int);strtol 2
//   work(int);leaf(int) 1
// stopped-in: main
//
// The same when all is bound.
// flamb: capture work
// expect: invocation 1
//   work(int) 1
//   work(int);library_add(int) 2
//   work(int);library_add(int);library_leaf(int) 2
//   work(int);chosen_fast(int) 2
//   work(int);strtol 2
//   work(int);leaf(int) 1
// stopped-in: main
//
// The library's function as the trigger.
// flamb: capture library_add
// expect: invocation 1
//   library_add(int) 1
//   library_add(int);library_leaf(int) 1
// stopped-in: work
#include <cstdlib>

#include "target.h"

int library_add(int n);
extern "C" int choose(int n);

FUNCTION void leaf(int n) { sink = n; }

FUNCTION void work(int n) {
  sink = library_add(n);
  sink = library_add(n);
  sink = choose(n);
  sink = choose(n);
  sink = static_cast<int>(strtol("12", nullptr, 10));
  sink = static_cast<int>(strtol("34", nullptr, 10));
  leaf(n);
  sink = n;
}

int main() {
  work(1);
  work(2);
  work(3);
  return 0;
}
