// Recursion of the trigger belongs to the one invocation, which only the outermost return ends.
// flags: -fno-optimize-sibling-calls
//
// flamb: capture work 2
// expect: invocations 1-2
//   work(int) 1
//   work(int);leaf(int) 2
//   work(int);work(int) 1
//   work(int);work(int);leaf(int) 2
//   work(int);work(int);work(int) 1
//   work(int);work(int);work(int);leaf(int) 2
// stopped-in: main
//
// Mutual recursion through the trigger.
// flamb: capture is_even
// expect: invocation 1
//   is_even(int) 1
//   is_even(int);is_odd(int) 1
//   is_even(int);is_odd(int);is_even(int) 1
//   is_even(int);is_odd(int);is_even(int);is_odd(int) 1
//   is_even(int);is_odd(int);is_even(int);is_odd(int);is_even(int) 1
// stopped-in: main
//
// Two calls of itself in one frame: siblings, not a chain.
// flamb: capture fibonacci
// expect: invocation 1
//   fibonacci(int) 1
//   fibonacci(int);fibonacci(int) 2
// stopped-in: main
#include "target.h"

FUNCTION void leaf(int n) { sink = n; }

FUNCTION int work(int n) {
  leaf(n);
  int below = n > 0 ? work(n - 1) : 0;
  leaf(below);
  return below + n;
}

int is_odd(int n);

FUNCTION int is_even(int n) {
  int answer = n == 0 ? 1 : is_odd(n - 1);
  sink = n;
  return answer;
}

FUNCTION int is_odd(int n) {
  int answer = n == 0 ? 0 : is_even(n - 1);
  sink = n;
  return answer;
}

FUNCTION int fibonacci(int n) {
  if (n < 2) {
    sink = n;
    return n;
  }
  int first = fibonacci(n - 1);
  int second = fibonacci(n - 2);
  sink = first;
  return first + second;
}

int main() {
  sink = work(2);
  sink = work(2);
  sink = is_even(4);
  sink = fibonacci(2);
  return 0;
}
