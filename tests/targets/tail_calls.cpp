// A tail call puts the callee in the frame's place: below the caller's parent, nothing stays open.
// builds: gcc-O2 clang-O2
// flags: -fno-builtin
//
// flamb: capture work
// expect: invocation 1
//   work(int) 1
//   work(int);middle(int) 2
//   work(int);last(int) 2
//   work(int);last(int);leaf(int) 2
//   work(int);leaf(int) 1
// stopped-in: main
//
// Two functions that tail-call each other.
// flamb: capture play
// expect: invocation 1
//   play(int) 1
//   play(int);ping(int) 3
//   play(int);pong(int) 2
//   play(int);leaf(int) 2
// stopped-in: main
//
// The trigger itself tail-calls: it stays the root.
// flamb: capture jump
// expect: invocation 1
//   jump(int) 1
//   jump(int);last(int) 1
//   jump(int);last(int);leaf(int) 1
// stopped-in: main
//
// A tail call into a library, through the PLT.
// flamb: capture ask
// expect: invocation 1
//   ask(int) 1
//   ask(int);ask_library(int) 1
//   ask(int);abs 1
//   ask(int);leaf(int) 1
// stopped-in: main
#include "target.h"

extern "C" int abs(int);

FUNCTION int leaf(int n) {
  sink = n;
  return n;
}

FUNCTION int last(int n) {
  int got = leaf(n);
  sink = got;
  return got + 1;
}

FUNCTION int middle(int n) {
  sink = n;
  return last(n + 1);
}

FUNCTION int work(int n) {
  int sum = middle(n);
  sum += middle(n + 1);
  sum += leaf(n);
  return sum;
}

int pong(int n);

FUNCTION int ping(int n) {
  sink = n;
  if (n == 0) return sink;
  return pong(n - 1);
}

FUNCTION int pong(int n) {
  sink = n;
  if (n == 0) return sink;
  return ping(n - 1);
}

FUNCTION int play(int n) {
  leaf(n);
  int score = ping(n);
  leaf(score);
  return score + 1;
}

FUNCTION int jump(int n) {
  sink = n;
  return last(n);
}

FUNCTION int ask_library(int n) {
  sink = n;
  return abs(n);
}

FUNCTION int ask(int n) {
  int answer = ask_library(n);
  leaf(answer);
  return answer + 1;
}

int main() {
  sink = work(1);
  sink = play(4);
  sink = jump(3);
  sink = ask(-2);
  return 0;
}
