#include "code_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "one_thread.h"

namespace flamb {
namespace {

using testing::ElementsAre;

constexpr Address caller = text;
constexpr Address callee = text + 0x100;
constexpr Address stack = 0x7ffe0000;

// caller: call callee; call callee; je
class CodePathTest : public testing::Test {
 protected:
  CodePathTest() { debugger.put(caller, {0xE8, 0xFB, 0x00, 0x00, 0x00, 0xE8, 0xF6, 0x00, 0x00, 0x00, 0x74, 0x10}); }

  // The addresses of the transfers come by, the last included.
  std::vector<Address> follow(Address from, const std::vector<MadeCall>& before = {}) {
    std::vector<Address> passed;
    OpenCalls calls(before);
    end = path.follow({from, stack}, calls, [&](const CodePath::Step& step) {
      passed.push_back(step.block.end.address);
      return true;
    });
    calls.apply_to(open = before);
    return passed;
  }

  OneThread debugger;
  FrameTable frames;
  Program program{debugger, {}, frames};
  Code code{debugger};
  CodePath path{code, program};
  std::optional<CodePath::End> end;
  std::vector<MadeCall> open;
};

TEST_F(CodePathTest, ReturnsFromTheCallsItMade) {
  debugger.put(callee, {0x53, 0x5B, 0xC3});  // push rbx; pop rbx; ret
  EXPECT_THAT(follow(caller), ElementsAre(caller, callee + 2, caller + 5, callee + 2, caller + 10));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->stack, stack);
  EXPECT_TRUE(open.empty());
}

TEST_F(CodePathTest, ReturnsFromCallsMadeBefore) {
  debugger.put(callee, {0x48, 0x83, 0xC4, 0x08, 0xC3});  // add rsp, 8; ret
  EXPECT_THAT(follow(callee, {{stack + 8, caller + 5}}), ElementsAre(callee + 4, caller + 5, callee + 4));
  EXPECT_THAT(open, testing::SizeIs(1)) << "the callee takes more off the stack than is its own";
}

TEST_F(CodePathTest, EndsAtAReturnThatIsNotOneFromTheInnermostCall) {
  debugger.put(callee, {0x53, 0xC3});  // push rbx; ret
  EXPECT_THAT(follow(caller), ElementsAre(caller, callee + 1));
  EXPECT_THAT(open, testing::SizeIs(1));
}

TEST_F(CodePathTest, EndsWhereTheReturnAddressIsWritten) {
  debugger.put(callee, {0x48, 0x89, 0x04, 0x24, 0xC3});  // mov [rsp], rax; ret
  EXPECT_THAT(follow(caller), ElementsAre(caller, callee + 4));
}

TEST_F(CodePathTest, EndsWhereTheStackIsSwitched) {
  debugger.put(callee, {0x48, 0x89, 0xCC, 0xC3});  // mov rsp, rcx; ret
  EXPECT_THAT(follow(caller), ElementsAre(caller, callee + 3));
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->keeps_stack);
  EXPECT_EQ(end->stack, std::nullopt);
}

TEST_F(CodePathTest, EndsAtTheRootsReturn) {
  debugger.put(callee, {0xC3});
  follow(callee, {{stack, 0x4000, true}});
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->leaves_root);
  EXPECT_EQ(end->transfer.address, callee);
}

TEST_F(CodePathTest, AnEndlessLoopHasNoEnd) {
  debugger.put(callee, {0xEB, 0xFE});  // jmp callee
  follow(callee);
  EXPECT_FALSE(end);
}

}  // namespace
}  // namespace flamb
