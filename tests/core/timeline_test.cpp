#include "timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace flamb {
namespace {

// "1(3 2())" is: node 1 is entered, weighs 3, enters node 2, which is left, and is left.
std::string replayed(const Timeline& timeline) {
  std::string text;
  const auto word = [&](const std::string& next) {
    if (!text.empty() && text.back() != '(') text += ' ';
    text += next;
  };
  timeline.replay([&](NodeId node) { word(std::to_string(node) + "("); }, [&] { text += ')'; },
                  [&](std::uint64_t weight) { word(std::to_string(weight)); });
  return text;
}

class RecordingTest : public testing::Test {
 protected:
  void call(FrameId frame, std::uint64_t weight) {
    events.enter(frame);
    events.weigh(weight);
    events.leave();
  }

  CallTree tree;
  Timeline timeline;
  Recording events{tree, timeline};
};

TEST_F(RecordingTest, KeepsAdjacentCallsOfOneFunctionApart) {
  events.enter(7);
  call(8, 1);
  events.weigh(2);
  call(8, 3);
  call(9, 4);
  events.leave();
  EXPECT_EQ(replayed(timeline), "1(2(1) 2 2(3) 3(4))");
  EXPECT_EQ(tree[2].self, 4u);
}

TEST_F(RecordingTest, AddsWeightsWithNothingBetween) {
  events.enter(7);
  events.weigh(1);
  events.weigh(2);
  events.leave();
  EXPECT_EQ(replayed(timeline), "1(3)");
}

TEST_F(RecordingTest, KeepsLargeNumbers) {
  constexpr std::uint64_t most = 1ULL << 62U;
  events.enter(7);
  events.weigh(most);
  events.leave();
  EXPECT_EQ(replayed(timeline), "1(4611686018427387904)");
}

TEST_F(RecordingTest, LeavesWhatIsOpenAtTheEnd) {
  events.enter(7);
  events.enter(8);
  events.weigh(5);
  events.finish();
  EXPECT_EQ(replayed(timeline), "1(2(5))");
  EXPECT_EQ(tree.current(), CallTree::root);
}

TEST_F(RecordingTest, FollowsTheTreeWhereThatKeepsFramesTogether) {
  tree = CallTree({.max_depth = 2, .collapse_recursion = true});
  events.enter(7);
  events.enter(7);
  events.weigh(1);
  events.enter(8);
  call(9, 2);
  events.leave();
  events.finish();
  EXPECT_EQ(replayed(timeline), "1(1 2(2))");
}

TEST(Timeline, IsDroppedBeyondItsLimit) {
  Timeline timeline(100);
  for (int call = 0; call < 33; ++call) {  // of three bytes
    timeline.enter(1);
    timeline.weigh(1);
    timeline.leave();
  }
  EXPECT_TRUE(timeline.is_complete());
  timeline.enter(1);
  timeline.weigh(1);
  timeline.leave();
  EXPECT_FALSE(timeline.is_complete());
  EXPECT_EQ(replayed(timeline), "");
}

TEST(Timeline, CanBeThatOfAnotherTree) {
  Timeline timeline;
  timeline.enter(1);
  timeline.weigh(4);
  timeline.enter(2);
  timeline.leave();
  timeline.leave();
  EXPECT_EQ(replayed(timeline.renumbered({0, 30, 20})), "30(4 20())");
}

}  // namespace
}  // namespace flamb
