// What the debuggers' benchmark runs: a function that makes CALLS calls, three of four of them to a leaf.
//
//   benchmark_target CALLS
#include <stdlib.h>

#define FUNCTION __attribute__((noinline, noclone, visibility("default")))

volatile unsigned sink;

FUNCTION void leaf_add(unsigned value) { sink += value; }
FUNCTION void leaf_mix(unsigned value) { sink ^= value << 3; }
FUNCTION void leaf_loop(unsigned value) {
  for (unsigned i = 0; i < 8; ++i) sink += i * value;
}

FUNCTION void inner(unsigned value) {
  leaf_add(value);
  leaf_mix(value);
  leaf_loop(value);
  sink += 1;
}

FUNCTION void work(unsigned calls) {
  for (unsigned i = 0; i < calls / 4; ++i) inner(i);
  sink += 1;
}

FUNCTION void done(void) { sink += 1; }

int main(int argc, char** argv) {
  work(argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 10000);
  done();
  return 0;
}
