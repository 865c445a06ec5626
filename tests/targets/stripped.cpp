// A stripped program: what is exported has its name, the rest its place in the file.
// flags: -fno-optimize-sibling-calls -fno-builtin
// link: -rdynamic
// strip: yes
//
// flamb: capture work
// expect: invocation 1
//   work(int) 1
//   work(int);stripped+0x@hex@ 2
//   work(int);stripped+0x@hex@;stripped+0x@hex@ 4
//   work(int);leaf(int) 1
//   work(int);strtol 1
#include <cstdlib>

#include "target.h"

FUNCTION static int innermost(int n) {
  sink = n;
  return n;
}

FUNCTION static int middle(int n) {
  int sum = innermost(n);
  sum += innermost(n + 1);
  sink = sum;
  return sum;
}

FUNCTION void leaf(int n) { sink = n; }

FUNCTION void work(int n) {
  sink = middle(n) + middle(n + 1);
  leaf(n);
  sink = static_cast<int>(strtol("12", nullptr, 10));
  sink = n;
}

int main() {
  work(1);
  return 0;
}
