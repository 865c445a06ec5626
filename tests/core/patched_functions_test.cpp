#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "traced_functions.h"
#include "tracepoints/stub_library.h"

namespace flamb {
namespace {

using testing::ElementsAre;

// What a signal handler sees at an instruction.
struct Step {
  Address pc = 0;
  bool is_unwound = false;  // as far as the caller
  std::uint64_t rbx = 0;    // the caller's
  std::uint64_t cfa = 0;
};

struct Steps {
  Address first = 0;
  Address end = 0;
  std::size_t count = 0;
  std::array<Step, 256> list;
} steps;

_Unwind_Reason_Code look_for_caller(_Unwind_Context* context, void* found) {
  const Address pc = _Unwind_GetIP(context);
  if (pc < address_of(call_stepping) || pc >= address_of(&call_stepping_end)) return _URC_NO_REASON;
  constexpr int rbx = 3;
  auto& step = *static_cast<Step*>(found);
  step.is_unwound = true;
  step.rbx = _Unwind_GetGR(context, rbx);
  step.cfa = _Unwind_GetCFA(context);
  return _URC_END_OF_STACK;
}

void on_step(int /*signal*/, siginfo_t* /*info*/, void* context) {
  const auto pc = static_cast<Address>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  if (pc < steps.first || pc >= steps.end || steps.count == steps.list.size()) return;
  Step& step = steps.list.at(steps.count++);
  step = {pc};
  _Unwind_Backtrace(look_for_caller, &step);
}

// The program's own functions, patched.
class PatchedFunctionsTest : public StubLibraryTest {
 protected:
  void SetUp() override {
    StubLibraryTest::SetUp();
    loaded = ::dlopen(path.c_str(), RTLD_NOW);
    ASSERT_NE(loaded, nullptr) << ::dlerror();
    const auto* const map = static_cast<const link_map*>(loaded);
    ASSERT_EQ(map->l_addr, 0U) << "not loaded where it was made for";
    for (const StubLibrary::Patch& patch : library.patches()) {
      test_agent_continuations[patch.id] = patch.continuation;
      test_agent_counts[patch.id] = 0;
      write_code(patch.entry, patch.replacement);
    }
  }

  void TearDown() override {
    if (loaded != nullptr) {
      for (const StubLibrary::Patch& patch : library.patches()) write_code(patch.entry, patch.original);
      ::dlclose(loaded);
    }
    StubLibraryTest::TearDown();
  }

  static void write_code(Address entry, const std::array<std::byte, patch_size>& bytes) {
    constexpr Address page = 0x1000;
    void* const start = reinterpret_cast<void*>(entry / page * page);
    const std::size_t size = (entry + bytes.size() - 1) / page * page + page - entry / page * page;
    ASSERT_EQ(::mprotect(start, size, PROT_READ | PROT_WRITE | PROT_EXEC), 0) << std::strerror(errno);
    std::memcpy(reinterpret_cast<void*>(entry), bytes.data(), bytes.size());
    ASSERT_EQ(::mprotect(start, size, PROT_READ | PROT_EXEC), 0) << std::strerror(errno);
  }

  std::vector<std::uint64_t> counts() const { return {test_agent_counts, test_agent_counts + 7}; }

  // Runs the function with a signal at each instruction.
  template <class F>
  int step_through(F* function, const void* argument) {
    struct sigaction action {};
    struct sigaction previous {};
    action.sa_sigaction = on_step;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGTRAP, &action, &previous);
    Step unused;
    _Unwind_Backtrace(look_for_caller, &unused);  // the first one loads a library
    steps.first = library.base();
    steps.end = library.end();
    steps.count = 0;
    const int result = call_stepping(reinterpret_cast<const void*>(function), argument);
    ::sigaction(SIGTRAP, &previous, nullptr);
    return result;
  }

  void* loaded = nullptr;
};

TEST_F(PatchedFunctionsTest, FunctionsDoWhatTheyDid) {
  EXPECT_EQ(traced_add(1, 2, 0, 0, 0, 0, 30, 400), 433);
  EXPECT_EQ(traced_global(5), 105);
  EXPECT_EQ(traced_branch(1), 11);
  EXPECT_EQ(traced_branch(0), -1);
  EXPECT_EQ(traced_identity(42), 42);
  EXPECT_EQ(traced_tail(2), 12);
  EXPECT_EQ(traced_call([] { return 7; }), 8);
  traced_callee = [] { return 9; };
  EXPECT_EQ(traced_direct_call(), 9);
  EXPECT_EQ(traced_loop(3), 3);
  EXPECT_THAT(counts(), ElementsAre(1, 1, 3, 1, 1, 1, 1)) << "traced_tail goes on to traced_branch";
}

TEST_F(PatchedFunctionsTest, ExceptionsPass) {
  traced_callee = []() -> int { throw std::runtime_error("thrown"); };
  EXPECT_THROW(traced_call(traced_callee), std::runtime_error);
  EXPECT_THROW(traced_direct_call(), std::runtime_error);
}

TEST_F(PatchedFunctionsTest, ACalleeSeesItsCallers) {
  static std::array<void*, 64> frames;
  static int count = 0;
  traced_callee = [] { return count = ::backtrace(frames.data(), static_cast<int>(frames.size())); };
  const int depth = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  void* const outermost = frames.at(static_cast<std::size_t>(depth) - 1);
  traced_direct_call();
  const auto is_in_function = [](void* pc) {
    return address_of(pc) > address_of(traced_direct_call) && address_of(pc) <= address_of(&traced_direct_call_end);
  };
  EXPECT_EQ(std::count_if(frames.begin(), frames.begin() + count, is_in_function), 1);
  EXPECT_GT(count, depth);
  EXPECT_EQ(frames.at(static_cast<std::size_t>(count) - 1), outermost);
}

TEST_F(PatchedFunctionsTest, EachInstructionCanBeUnwound) {
  const auto expect_unwound = [&](std::size_t id, std::size_t instructions) {
    EXPECT_EQ(steps.count, instructions) << functions[id].name;
    for (std::size_t each = 0; each < steps.count; ++each) {
      const Step& step = steps.list.at(each);
      const std::string where = fmt::format("{}, {} bytes in", functions[id].name, step.pc - stub(id));
      EXPECT_TRUE(step.is_unwound) << where;
      EXPECT_EQ(step.rbx, stepping_rbx) << where;
      EXPECT_EQ(step.cfa, steps.list[0].cfa) << where;
    }
  };
  traced_callee = [] { return 9; };
  const void* const five = reinterpret_cast<const void*>(5);
  EXPECT_EQ(step_through(traced_global, five), 105);
  expect_unwound(1, 4);  // push, jmp; mov, jmp
  EXPECT_EQ(step_through(traced_branch, five), 15);
  expect_unwound(2, 6);  // push, jmp; test, je, lea, jmp
  EXPECT_EQ(step_through(traced_identity, five), 5);
  expect_unwound(3, 4);  // push, jmp; mov, ret
  EXPECT_EQ(step_through(traced_call, reinterpret_cast<const void*>(traced_callee)), 10);
  expect_unwound(5, 7);  // push, jmp; push, xor, push, mov, jmp
  EXPECT_EQ(step_through(traced_direct_call, nullptr), 9);
  expect_unwound(6, 7);  // push, jmp; push, mov, push, mov, jmp
}

}  // namespace
}  // namespace flamb
