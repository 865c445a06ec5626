// The program's own library: an ordinary function and one that is chosen when it is bound.
#include "target.h"

FUNCTION int library_leaf(int n) {
  sink = n;
  return n;
}

FUNCTION int library_add(int n) {
  int got = library_leaf(n);
  sink = got;
  return got + 1;
}

FUNCTION int chosen_fast(int n) {
  sink = n;
  return n + 2;
}

FUNCTION int chosen_slow(int n) {
  sink = n;
  return n + 1 + 1;
}

static volatile bool is_fast = true;

extern "C" {
using Choice = int (*)(int);

Choice resolve_choice() { return is_fast ? chosen_fast : chosen_slow; }

int choose(int n) __attribute__((ifunc("resolve_choice")));
}
