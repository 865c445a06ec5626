// A constructor with a virtual base has two symbols with one name, one for whole objects and one for base parts: the
// name takes both.
// flags: -fno-optimize-sibling-calls
//
// flamb: capture Middle::Middle 2
// expect: invocation 1
//   Middle::Middle(int) 1
//   Middle::Middle(int);Base::Base(int) 1
//   Middle::Middle(int);leaf(int) 1
// expect: invocation 2
//   Middle::Middle(int) 1
//   Middle::Middle(int);leaf(int) 1
//
// flamb: capture ~Middle
// expect: invocation 1
//   Middle::~Middle() 1
//   Middle::~Middle();leaf(int) 1
//
// Before main: a static object's constructor.
// both: kill
// flamb: capture Early::Early
// expect: invocation 1
//   Early::Early(int) 1
//   Early::Early(int);leaf(int) 1
#include "target.h"

FUNCTION void leaf(int n) { sink = n; }

// GCC does not clone a noipa constructor: it would make a third copy and have these two call it.
#define CONSTRUCTOR __attribute__((noinline))

struct Base {
  CONSTRUCTOR explicit Base(int n);
  int value;
};

struct Middle : virtual Base {
  CONSTRUCTOR explicit Middle(int n);
  CONSTRUCTOR ~Middle();
};

struct Bottom : Middle {
  CONSTRUCTOR explicit Bottom(int n);
};

struct Early {
  CONSTRUCTOR explicit Early(int n);
};

Base::Base(int n) : value(n) { sink = n; }
Middle::Middle(int n) : Base(n) {
  leaf(n);
  sink = n;
}
Middle::~Middle() {
  leaf(0);
  sink = 0;
}
Bottom::Bottom(int n) : Base(n), Middle(n) { sink = n; }
Early::Early(int n) {
  leaf(n);
  sink = n;
}

static Early early(1);

int main() {
  Middle middle(2);
  Bottom bottom(3);
  leaf(middle.value + bottom.value);
  return 0;
}
