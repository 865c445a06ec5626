// What apply evaluates: values of each kind, arguments of each kind, and calls that do not come back. Its cases are in
// tests/conformance/cases/apply*.case.
// flags: -fno-optimize-sibling-calls
#include <cstring>
#include <string>

#include "target.h"

struct Point {
  int x;
  int y;
};

enum class Colour { red, green };

static int numbers[] = {7, 8, 9};
static std::string greeting;

FUNCTION void leaf(int n) { sink = n; }

FUNCTION int add(int left, int right) {
  leaf(left);
  leaf(right);
  return left + right;
}

FUNCTION double halve(double n) {
  leaf(1);
  return n / 2;
}

FUNCTION bool is_even(int n) {
  leaf(n);
  return n % 2 == 0;
}

FUNCTION void nothing(int n) { leaf(n); }

FUNCTION Point make_point(int x, int y) {
  leaf(x);
  return {x, y};
}

FUNCTION int* third_number(int n) {
  leaf(n);
  return &numbers[2];
}

FUNCTION Colour other_colour(Colour colour) {
  leaf(1);
  return colour == Colour::red ? Colour::green : Colour::red;
}

FUNCTION std::string describe(int n) {
  leaf(n);
  return n > 1 ? "many" : "one";
}

FUNCTION int measure_text(const char* text, char wanted) {
  int count = 0;
  for (; *text != '\0'; ++text) count += *text == wanted ? 1 : 0;
  leaf(count);
  return count;
}

FUNCTION void thrower(int n) {
  leaf(n);
  throw n;
}

FUNCTION int throws(int n) {
  thrower(n);
  return n;
}

FUNCTION int crashes(int n) {
  leaf(n);
  int* volatile nowhere = nullptr;
  *nowhere = n;
  return n;
}

FUNCTION int never_returns(int n) {
  leaf(n);
  while (sink != 123456789) sink = n;
  return n;
}

// Calls everything once, so that every build keeps it.
FUNCTION int use_all(int n) {
  sink = add(n, n) + static_cast<int>(halve(n)) + is_even(n) + make_point(n, n).x + *third_number(n);
  nothing(n);
  greeting = describe(n);
  sink = measure_text("a,b", ',') + static_cast<int>(other_colour(Colour::red));
  if (n > 100) sink = throws(n) + crashes(n) + never_returns(n);
  return sink;
}

FUNCTION void here(int n) { sink = n; }

int main() {
  sink = use_all(1);
  here(1);
  here(2);
  return 0;
}
