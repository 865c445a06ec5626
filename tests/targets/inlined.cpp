// A function inlined into another is a frame of its own for the stepping collector.
// builds: gcc-O2 clang-O2
// collectors: stepping
//
// flamb: capture work --measure instructions
// expect: invocation 1
//   work(int) *
//   work(int);square(int)_[i] *
//   work(int);sum_of_squares(int)_[i] *
//   work(int);sum_of_squares(int)_[i];square(int)_[i] *
//   work(int);kept(int) *
//   work(int);kept(int);square(int)_[i] *
// stopped-in: main
//
// A trigger that is inlined everywhere: where is said, nothing runs.
// flamb: capture square
// expect: no files
// says: inlined
// says: inlined.cpp:
#include "target.h"

#define INLINED __attribute__((always_inline)) static inline

INLINED int square(int n) {
  sink = n;
  sink = n * 3;
  return n * n;
}

INLINED int sum_of_squares(int n) {
  int sum = square(n);
  sink = sum;
  sum += square(n + 1);
  sink = sum;
  return sum;
}

FUNCTION int kept(int n) {
  sink = n;
  int got = square(n);
  sink = got;
  return got;
}

FUNCTION int work(int n) {
  sink = n;
  int sum = square(n);
  sink = sum;
  sum += sum_of_squares(n);
  sum += kept(n);
  sink = sum;
  return sum;
}

int main() {
  sink = work(2);
  sink = work(3);
  return 0;
}
