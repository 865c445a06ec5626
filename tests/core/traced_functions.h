#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tracepoints/stub_library.h"

// Functions of the test program, in assembly, that tests patch. Each passes what it got on in a way that shows.
extern "C" {
long traced_add(long, long, long, long, long, long, long, long);
int traced_global(int);
int traced_branch(int);
int traced_identity(int);
int traced_tail(int);
int traced_call(int (*)());
int traced_direct_call();
int traced_loop(int);

// Stands for the agent: counts the call, and goes on as if nothing had been.
void test_agent_entry();
extern std::uint64_t test_agent_counts[16];
extern flamb::Address test_agent_continuations[16];

// What traced_direct_call calls.
extern int (*traced_callee)();

// Calls a function, and has a SIGTRAP at each instruction meanwhile. rbx is `stepping_rbx` then.
int call_stepping(const void* function, const void* argument);
extern const char call_stepping_end;
extern const char traced_direct_call_end;
}

namespace flamb {

constexpr std::uint64_t stepping_rbx = 0x5EED;

template <class T>
Address address_of(T* thing) {
  return reinterpret_cast<Address>(thing);
}

// In the order of their ids.
std::vector<StubLibrary::Function> traced_functions();

// Below this program, where nothing is mapped.
Address free_address_near();

class StubLibraryTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/flamb-stubs-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory = std::filesystem::canonical(pattern).string();
    path = directory + "/stubs.so";
    const auto written = library.write(path);
    ASSERT_TRUE(written) << written.error().message;
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  Address stub(std::size_t id) const { return library.patches().at(id).continuation - 16; }

  std::string directory;
  std::string path;
  std::vector<StubLibrary::Function> functions = traced_functions();
  StubLibrary library{functions, free_address_near(), address_of(test_agent_entry)};
};

}  // namespace flamb
