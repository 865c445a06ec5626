// The program that the contract suite debugs. Its first argument says what it does.
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define FLAMB_NOINLINE __attribute__((noinline, used))

struct Pair {
  int left;
  int right;
};
struct Mixed {
  long whole;
  double part;
};
struct Large {
  long values[8];
};
enum class Colour { red = 1, green = 2 };

extern "C" {

volatile int sink = 0;

// Called when the program is set up: where a check stops it to do its own work.
FLAMB_NOINLINE void ready() { sink = sink + 1; }

FLAMB_NOINLINE int inner(int value) {
  sink = sink + 1;
  return value * 2;
}
FLAMB_NOINLINE int outer(int value) { return inner(value) + inner(value + 1); }

FLAMB_NOINLINE void worker_step() { sink = sink + 1; }

// Four instructions of one byte each, so that breakpoints can be on neighbours.
void neighbours();
asm(".text\n.globl neighbours\n.type neighbours, @function\nneighbours:\n nop\n"
    ".globl second_neighbour\n.type second_neighbour, @function\nsecond_neighbour:\n nop\n nop\n ret\n"
    ".size neighbours, .-neighbours\n.size second_neighbour, .-second_neighbour\n");

void illegal();
asm(".text\n.globl illegal\n.type illegal, @function\nillegal:\n ud2\n.size illegal, .-illegal\n");

FLAMB_NOINLINE void about_to_spin() { sink = sink + 1; }

FLAMB_NOINLINE int give_int() { return 42; }
FLAMB_NOINLINE bool give_bool() { return true; }
FLAMB_NOINLINE double give_double() { return 2.5; }
FLAMB_NOINLINE float give_float() { return 1.5F; }
FLAMB_NOINLINE const char* give_text() { return "some text"; }
FLAMB_NOINLINE Colour give_colour() { return Colour::green; }
FLAMB_NOINLINE Pair give_pair() { return {3, 4}; }
FLAMB_NOINLINE Mixed give_mixed() { return {7, 0.25}; }
FLAMB_NOINLINE Large give_large() { return {{10, 11, 12, 13, 14, 15, 16, 17}}; }
FLAMB_NOINLINE void give_nothing() { sink = sink + 1; }

FLAMB_NOINLINE int add(int a, int b) { return outer(a) * 0 + a + b; }
FLAMB_NOINLINE int crash(volatile int* at) { return *at; }
FLAMB_NOINLINE int throws() { throw std::runtime_error("thrown in the target"); }
FLAMB_NOINLINE int never() {
  about_to_spin();
  for (;;) sink = sink + 1;
}

}  // extern "C"

FLAMB_NOINLINE std::string give_string() { return "a string"; }
FLAMB_NOINLINE std::string greet(const char* name) { return std::string("hello ") + name; }

namespace {

void on_signal(int) { sink = 100; }

int run_threads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 25; ++k) worker_step();
    });
  }
  for (auto& thread : threads) thread.join();
  return 0;
}

int run_library(const char* program) {
  std::string path(program);
  path = path.substr(0, path.rfind('/')) + "/libcontract_library.so";
  void* library = dlopen(path.c_str(), RTLD_NOW);
  if (library == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  void* symbol = dlsym(library, "library_function");
  if (symbol == nullptr) return 2;
  int (*function)(int) = nullptr;
  std::memcpy(&function, &symbol, sizeof function);
  const int value = function(20);
  dlclose(library);
  return value;
}

int run_values() {
  give_int();
  give_bool();
  give_double();
  give_float();
  give_text();
  give_colour();
  give_pair();
  give_mixed();
  give_large();
  give_string();
  give_nothing();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "calls";
  ready();
  if (mode == "calls") {
    for (int i = 0; i < 5; ++i) outer(i);
    neighbours();
    return 7;
  }
  if (mode == "threads") return run_threads();
  if (mode == "library") return run_library(argv[0]);
  if (mode == "values") return run_values();
  if (mode == "output") return std::puts("the target's own output"), 0;
  if (mode == "signal") {
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    return sink == 100 ? 10 : 11;
  }
  if (mode == "killed") raise(SIGTERM);
  if (mode == "exec") execl(argv[0], argv[0], "calls", static_cast<char*>(nullptr));
  if (mode == "spin") never();
  if (mode == "spins") {
    std::thread other(never);
    never();
  }
  if (mode == "illegal") illegal();
  if (mode == "call") {
    if (sink < 0) return add(1, 2) + crash(nullptr) + throws() + static_cast<int>(greet("").size());
    return 0;
  }
  return 1;
}
