#include "shadow_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace flamb {
namespace {

using testing::ElementsAre;

// Writes down what it is fed: "+3" enter, "-" leave, "5" weigh.
class Log final : public CallSink {
 public:
  void enter(FrameId frame) override { events.push_back("+" + std::to_string(frame)); }
  void leave() override { events.emplace_back("-"); }
  void weigh(std::uint64_t weight) override { events.push_back(std::to_string(weight)); }

  std::vector<std::string> events;
};

class ShadowStackTest : public testing::Test {
 protected:
  ShadowStackTest() { stack.enter_root({.slot = 1000, .frame = 1}); }

  Log log;
  ShadowStack stack{log};
};

TEST_F(ShadowStackTest, ClosesCallsThatReturnedWhenTheNextIsEntered) {
  stack.enter({.slot = 900, .frame = 2});
  stack.enter({.slot = 800, .frame = 3});
  stack.enter({.slot = 900, .frame = 4});
  EXPECT_THAT(log.events, ElementsAre("+1", "+2", "+3", "-", "-", "+4"));
}

TEST_F(ShadowStackTest, ClosesACallThatReturnedWhenItsCallerCallsFromDeeperDown) {
  stack.enter({.slot = 900, .frame = 2});
  stack.enter({.slot = 850, .frame = 3}, Address{1000});
  EXPECT_THAT(log.events, ElementsAre("+1", "+2", "-", "+3"));
}

TEST_F(ShadowStackTest, KeepsTheStackWhenTheCallerIsNotOnIt) {
  stack.enter({.slot = 900, .frame = 2});
  stack.enter({.slot = 800, .frame = 3}, Address{870});
  EXPECT_THAT(log.events, ElementsAre("+1", "+2", "+3"));
}

TEST_F(ShadowStackTest, LetsATailCallTakeItsCallersPlace) {
  stack.enter({.slot = 900, .frame = 2});
  stack.enter({.slot = 900, .frame = 3});
  stack.enter({.slot = 850, .frame = 4}, Address{900});
  EXPECT_THAT(log.events, ElementsAre("+1", "+2", "-", "+3", "+4"));
}

TEST_F(ShadowStackTest, KeepsTheRootBelowWhatItTailCalls) {
  stack.enter({.slot = 1000, .frame = 2});
  stack.enter({.slot = 1000, .frame = 3});
  stack.settle(5000);
  EXPECT_THAT(log.events, ElementsAre("+1", "+2", "-", "+3", "-"));
}

TEST_F(ShadowStackTest, SettlesByTheStackPointer) {
  stack.enter({.slot = 900, .frame = 2});
  stack.enter({.slot = 800, .frame = 3});
  stack.settle(800);
  EXPECT_EQ(stack.calls().size(), 3u) << "a call lives until the stack pointer is above its slot";
  stack.settle(808);
  EXPECT_EQ(stack.calls().size(), 2u);
}

TEST_F(ShadowStackTest, OpensAndClosesInlinedFramesWithinTheirCall) {
  stack.set_inlined(std::array<FrameId, 2>{7, 8});
  stack.set_inlined(std::array<FrameId, 2>{7, 9});
  stack.enter({.slot = 900, .frame = 2});
  stack.set_inlined(std::array<FrameId, 1>{5});
  stack.settle(908);
  stack.set_inlined({});
  EXPECT_THAT(log.events, ElementsAre("+1", "+7", "+8", "-", "+9", "+2", "+5", "-", "-", "-", "-"));
}

TEST_F(ShadowStackTest, ClosesEverything) {
  stack.enter({.slot = 900, .frame = 2});
  stack.set_inlined(std::array<FrameId, 1>{7});
  stack.close();
  EXPECT_TRUE(stack.empty());
  EXPECT_THAT(log.events, ElementsAre("+1", "+2", "+7", "-", "-", "-"));
}

TEST_F(ShadowStackTest, TakesDeepRecursionInItsStride) {
  constexpr std::uint64_t depth = 100'000;
  stack.close();
  stack.enter_root({.slot = depth * 100, .frame = 1});
  for (std::uint64_t call = 1; call < depth; ++call) {
    stack.enter({.slot = (depth - call) * 100, .frame = 1}, (depth - call + 1) * 100);
  }
  EXPECT_EQ(stack.calls().size(), depth);
}

}  // namespace
}  // namespace flamb
