// The trigger is in a library that the program opens later: it is pending until then.
// flags: -fno-optimize-sibling-calls
// link: -ldl
// plugin: dlopen_plugin.cpp
// builds: gcc-O0 clang-O2
//
// flamb: capture plugin_entry 2
// expect: invocations 1-2
//   plugin_entry 1
//   plugin_entry;plugin_leaf(int) 2
//   plugin_entry;from_program 1
// stopped-in: use_plugin
//
// A library that is opened within the trigger. Its own start-up code may show. Its functions get no tracepoints any more.
// both: kill
// flamb: capture use_plugin
// expect: invocation 1
//   use_plugin(char const*) 1
//   use_plugin(char const*);dlopen 1
//   ? use_plugin(char const*);dlopen;_init 1
//   ? use_plugin(char const*);dlopen;frame_dummy 1
//   ? use_plugin(char const*);dlopen;register_tm_clones 1
//   use_plugin(char const*);dlsym 1
//   [breakpoints,stepping] use_plugin(char const*);plugin_entry 2
//   [breakpoints,stepping] use_plugin(char const*);plugin_entry;plugin_leaf(int) 4
//   [breakpoints,stepping] use_plugin(char const*);plugin_entry;from_program 2
//   [tracepoints] use_plugin(char const*);from_program 2
// stopped-in: main
#include <dlfcn.h>

#include "target.h"

extern "C" FUNCTION void from_program(int n) { sink = n; }

FUNCTION void use_plugin(const char* path) {
  void* plugin = dlopen(path, RTLD_LAZY);
  if (plugin == nullptr) return;
  using Entry = void (*)(int, void (*)(int));
  Entry entry = reinterpret_cast<Entry>(dlsym(plugin, "plugin_entry"));
  entry(1, from_program);
  entry(2, from_program);
  sink = 1;
}

int main() {
  use_plugin(FLAMB_PLUGIN);
  return 0;
}
