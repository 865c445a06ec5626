// Every way of calling: overloads, templates, virtual functions, function pointers, lambdas, anonymous namespaces.
// flags: -fno-optimize-sibling-calls
//
// flamb: capture work
// expect: invocation 1
//   work(int) 1
//   work(int);overloaded(int) 1
//   work(int);overloaded(double) 1
//   work(int);overloaded(char const*) 1
//   work(int);twice<int>(int) 2
//   work(int);twice<double>(double) 1
//   work(int);Circle::area() const 1
//   work(int);Square::area() const 1
//   work(int);Square::area() const;Square::side() const 1
//   work(int);pointed_to(int) 1
//   work(int);(anonymous namespace)::hidden(int) 1
//   work(int);apply_lambda(int) 1
//   [gcc-*] work(int);apply_lambda(int);apply_lambda(int)::{lambda(int)#1}::operator()(int) const 2
//   [clang-*] work(int);apply_lambda(int);apply_lambda(int)::$_0::operator()(int) const 2
//   work(int);Counter::operator()(int) 1
//   work(int);operator+(Number const&, Number const&) 1
//   work(int);outer::inner::deep(int) 1
// stopped-in: main
//
// A bare name takes every overload; each call is an invocation, in order of entry.
// flamb: capture overloaded 3
// expect: invocation 1
//   overloaded(int) 1
// expect: invocation 2
//   overloaded(double) 1
// expect: invocation 3
//   overloaded(char const*) 1
//
// A signature takes one.
// flamb: capture overloaded(double)
// expect: invocation 1
//   overloaded(double) 1
//
// A bare name takes every instance of a template; a name within a class or namespace needs no prefix.
// flamb: capture twice 3
// expect: invocations 1-2
//   twice<int>(int) 1
// expect: invocation 3
//   twice<double>(double) 1
//
// flamb: capture Square::area
// expect: invocation 1
//   Square::area() const 1
//   Square::area() const;Square::side() const 1
//
// Two triggers of one name, both called through a table.
// flamb: capture area 2
// expect: invocation 1
//   Circle::area() const 1
// expect: invocation 2
//   Square::area() const 1
//   Square::area() const;Square::side() const 1
//
// flamb: capture hidden
// expect: invocation 1
//   (anonymous namespace)::hidden(int) 1
#include "target.h"

FUNCTION void overloaded(int n) { sink = n; }
FUNCTION void overloaded(double n) { sink = static_cast<int>(n); }
FUNCTION void overloaded(const char* text) { sink = text[0]; }

template <class T>
FUNCTION T twice(T n) {
  sink = static_cast<int>(n);
  return n + n;
}

struct Shape {
  virtual int area() const = 0;
};

struct Circle : Shape {
  int area() const override;
};

struct Square : Shape {
  int area() const override;
  int side() const;
};

FUNCTION int Circle::area() const {
  sink = 3;
  return 3;
}

FUNCTION int Square::side() const {
  sink = 2;
  return 2;
}

FUNCTION int Square::area() const {
  int length = side();
  sink = length;
  return length * length;
}

FUNCTION void pointed_to(int n) { sink = n; }

namespace {
FUNCTION void hidden(int n) { sink = n; }
}  // namespace

namespace outer::inner {
FUNCTION void deep(int n) { sink = n; }
}  // namespace outer::inner

FUNCTION void apply_lambda(int n) {
  auto add = [n](int more) FUNCTION {
    sink = n + more;
    return n + more;
  };
  int first = add(1);
  int second = add(2);
  sink = first + second;
}

struct Counter {
  void operator()(int n);
};

FUNCTION void Counter::operator()(int n) { sink = n; }

struct Number {
  int value;
};

FUNCTION Number operator+(const Number& left, const Number& right) {
  sink = left.value + right.value;
  return {left.value + right.value};
}

static void (*volatile pointer)(int) = pointed_to;
static Circle circle;
static Square square;
static Shape* volatile shapes[] = {&circle, &square};

FUNCTION void work(int n) {
  overloaded(n);
  overloaded(1.5);
  overloaded("text");
  twice(n);
  twice(n + 1);
  twice(2.5);
  for (Shape* shape : shapes) sink = shape->area();
  pointer(n);
  hidden(n);
  apply_lambda(n);
  Counter()(n);
  sink = (Number{1} + Number{2}).value;
  outer::inner::deep(n);
  sink = n;
}

int main() {
  for (int i = 0; i < 6; ++i) work(1);
  return 0;
}
