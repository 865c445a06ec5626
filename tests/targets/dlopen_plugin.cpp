// The library that dlopen.cpp opens.
#include "target.h"

FUNCTION void plugin_leaf(int n) { sink = n; }

extern "C" FUNCTION void plugin_entry(int n, void (*call_back)(int)) {
  plugin_leaf(n);
  call_back(n);
  plugin_leaf(n);
  sink = n;
}
