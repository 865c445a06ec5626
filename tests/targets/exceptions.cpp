// An exception caught inside the trigger closes the frames it unwinds; destructors that run meanwhile are calls of
// the frame that owns the object.
// builds[stepping]: gcc-O2
// flags: -fno-optimize-sibling-calls
//
// flamb: capture work
// expect: invocation 1
//   work(int) 1
//   work(int);middle(int) 1
//   work(int);middle(int);Guard::Guard(int) 1
//   work(int);middle(int);thrower(int) 1
//   work(int);middle(int);thrower(int);__cxa_allocate_exception 1
//   work(int);middle(int);thrower(int);__cxa_throw 1
//   work(int);middle(int);Guard::~Guard() 1
//   work(int);middle(int);_Unwind_Resume 1
//   work(int);__cxa_begin_catch 1
//   work(int);leaf(int) 2
//   work(int);__cxa_end_catch 1
// stopped-in: main
//
// Caught, thrown again, and caught by the trigger. To step through the unwinder so often takes LLDB too long.
// flamb[breakpoints,tracepoints,gdb]: capture twice
// expect: invocation 1
//   twice(int) 1
//   twice(int);rethrower(int) 1
//   twice(int);rethrower(int);thrower(int) 1
//   twice(int);rethrower(int);thrower(int);__cxa_allocate_exception 1
//   twice(int);rethrower(int);thrower(int);__cxa_throw 1
//   twice(int);rethrower(int);__cxa_begin_catch 1
//   twice(int);rethrower(int);leaf(int) 1
//   twice(int);rethrower(int);__cxa_rethrow 1
//   twice(int);rethrower(int);__cxa_end_catch 1
//   twice(int);rethrower(int);_Unwind_Resume 1
//   twice(int);__cxa_begin_catch 1
//   twice(int);leaf(int) 2
//   twice(int);__cxa_end_catch 1
// stopped-in: main
//
// The exception leaves the trigger: the invocation is written, and said to be incomplete.
// flamb: capture escape
// expect: invocation 1
//   escape(int) 1
//   escape(int);leaf(int) 1
//   escape(int);thrower(int) 1
//   escape(int);thrower(int);__cxa_allocate_exception 1
//   escape(int);thrower(int);__cxa_throw 1
// incomplete: exception
#include "target.h"

FUNCTION void leaf(int n) { sink = n; }

struct Guard {
  explicit Guard(int n);
  ~Guard();
  int value;
};

FUNCTION Guard::Guard(int n) : value(n) { sink = n; }
FUNCTION Guard::~Guard() { sink = value; }

FUNCTION void thrower(int n) {
  sink = n;
  throw n;
}

FUNCTION void middle(int n) {
  Guard guard(n);
  thrower(n);
  sink = n;
}

FUNCTION void work(int n) {
  try {
    middle(n);
  } catch (int) {
    leaf(n);
  }
  leaf(n);
  sink = n;
}

FUNCTION void rethrower(int n) {
  try {
    thrower(n);
  } catch (int) {
    leaf(n);
    throw;
  }
}

FUNCTION void twice(int n) {
  try {
    rethrower(n);
  } catch (int) {
    leaf(n);
  }
  leaf(n);
  sink = n;
}

FUNCTION void escape(int n) {
  leaf(n);
  thrower(n);
  leaf(n);
  sink = n;
}

int main() {
  work(1);
  twice(2);
  try {
    escape(3);
  } catch (int) {
    leaf(0);
  }
  return 0;
}
