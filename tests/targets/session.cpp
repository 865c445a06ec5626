// A program for the cases of what happens around a capture: a trigger that is called over and over, one never called,
// one that never ends, and a way to say where it is. Its cases are in tests/conformance/cases.
// flags: -fno-optimize-sibling-calls
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "target.h"

static int watched;

// Tells the test that this point was reached: a byte into the named pipe of FLAMB_MARK.
FUNCTION void mark() {
  static int pipe = -1;
  const char* name = getenv("FLAMB_MARK");
  if (name == nullptr) return;
  if (pipe < 0) pipe = open(name, O_WRONLY);
  if (write(pipe, "x", 1) != 1) abort();
}

FUNCTION void leaf(int n) { sink = n; }

FUNCTION void inner(int n) {
  leaf(n);
  watched = n;
  sink = n;
}

FUNCTION int work(int n) {
  leaf(n);
  inner(n);
  leaf(n);
  return n + 1;
}

FUNCTION void never_called(int n) {
  leaf(n);
  sink = n;
}

FUNCTION void work_endlessly(int n) {
  leaf(n);
  mark();
  while (sink != 123456789) inner(n);
}

FUNCTION void wait_endlessly() {
  mark();
  while (sink != 123456789) leaf(1);
}

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "work";
  if (strcmp(what, "endless") == 0) work_endlessly(1);
  if (strcmp(what, "wait") == 0) wait_endlessly();
  if (sink == 123456789) never_called(1);
  for (int i = 1; i <= 4; ++i) sink = work(i);
  leaf(0);
  return 0;
}
