#include "call_tree.h"

#include <gtest/gtest.h>

namespace flamb {
namespace {

TEST(CallTree, KeepsOneNodePerDistinctStack) {
  CallTree tree;
  for (int call = 0; call < 3; ++call) {
    tree.enter(7);
    tree.weigh(1);
    tree.enter(8);
    tree.weigh(2);
    tree.leave();
    tree.leave();
  }

  ASSERT_EQ(tree.nodes().size(), 3u);
  EXPECT_EQ(tree[1].calls, 3u);
  EXPECT_EQ(tree[2].self, 6u);
  EXPECT_EQ(tree[2].parent, 1u);
  EXPECT_EQ(tree.totals(), (std::vector<std::uint64_t>{9, 9, 6}));
}

TEST(CallTree, FindsChildrenOfNodesThatHaveMany) {
  CallTree tree;
  for (int round = 0; round < 2; ++round) {
    for (FrameId frame = 0; frame < 1000; ++frame) {
      tree.enter(frame);
      tree.leave();
    }
  }
  ASSERT_EQ(tree.nodes().size(), 1001u);
  for (NodeId id = 1; id <= 1000; ++id) EXPECT_EQ(tree[id].calls, 2u) << "node " << id;
}

TEST(CallTree, KeepsTheChildrenOfManyWideNodesApart) {
  CallTree tree;
  for (int round = 0; round < 2; ++round) {
    for (FrameId parent = 0; parent < 200; ++parent) {
      tree.enter(parent);
      for (FrameId child = 0; child < 100; ++child) {
        tree.enter(child);
        tree.weigh(parent);
        tree.leave();
      }
      tree.leave();
    }
  }
  ASSERT_EQ(tree.nodes().size(), 1u + 200 * 101);
  const std::vector<std::uint64_t> totals = tree.totals();
  NodeId id = tree[CallTree::root].first_child;
  for (FrameId parent = 0; parent < 200; ++parent, id = tree[id].next_sibling) {
    EXPECT_EQ(tree[id].calls, 2u);
    EXPECT_EQ(totals[id], 200u * parent) << "parent " << parent;
  }
}

TEST(CallTree, CountsWhatIsDeeperThanTheLimitForTheFrameAtTheLimit) {
  CallTree tree({.max_depth = 2});
  for (FrameId frame = 1; frame <= 4; ++frame) {
    tree.enter(frame);
    tree.weigh(1);
  }
  for (int open = 0; open < 4; ++open) tree.leave();
  tree.enter(1);
  tree.weigh(1);

  ASSERT_EQ(tree.nodes().size(), 3u);
  EXPECT_TRUE(tree.was_cut());
  EXPECT_EQ(tree[1].self, 2u);
  EXPECT_EQ(tree[2].self, 3u);
  EXPECT_EQ(tree[2].calls, 1u);
}

TEST(CallTree, CollapsesDirectRecursion) {
  CallTree tree({.collapse_recursion = true});
  for (FrameId frame : {1u, 1u, 2u, 1u}) {
    tree.enter(frame);
    tree.weigh(1);
  }
  ASSERT_EQ(tree.nodes().size(), 4u);
  EXPECT_EQ(tree[1].calls, 2u);
  EXPECT_EQ(tree[3].parent, 2u);
  for (int open = 0; open < 4; ++open) tree.leave();
  tree.leave();
  tree.enter(3);
  EXPECT_EQ(tree[4].parent, CallTree::root);
}

TEST(CallTree, AddsAnotherTreeStackByStack) {
  CallTree first;
  first.enter(1);
  first.weigh(1);
  first.enter(2);
  first.weigh(10);
  CallTree second;
  second.enter(1);
  second.weigh(5);
  second.enter(3);
  second.weigh(7);

  first.add(second);

  ASSERT_EQ(first.nodes().size(), 4u);
  EXPECT_EQ(first[1].calls, 2u);
  EXPECT_EQ(first[1].self, 6u);
  EXPECT_EQ(first[3].frame, 3u);
  EXPECT_EQ(first.totals(), (std::vector<std::uint64_t>{23, 23, 10, 7}));
}

TEST(CallTree, WeighsNothingWhereNoFunctionIsOpen) {
  CallTree tree;
  tree.weigh(5);
  tree.enter(1);
  tree.weigh(2);
  tree.leave();
  tree.weigh(5);
  EXPECT_EQ(tree.totals(), (std::vector<std::uint64_t>{2, 2}));
}

}  // namespace
}  // namespace flamb
