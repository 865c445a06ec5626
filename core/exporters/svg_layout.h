#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "call_tree.h"

namespace flamb {

// One rectangle of a flame graph. Places are in weight: the graph is as wide as the tree's total.
struct Box {
  NodeId node = CallTree::none;  // none: a box for siblings too thin to be drawn; CallTree::root: "all"
  std::uint32_t depth = 0;       // row, 0 at the bottom
  std::uint64_t begin = 0;
  std::uint64_t total = 0;
  std::uint64_t thin = 0;  // how many siblings it stands for
};

struct Layout {
  std::vector<Box> boxes;   // each before those above it, left to right
  std::uint64_t total = 0;  // the width
  std::uint32_t rows = 0;
  std::uint64_t least = 0;        // nodes without a box of their own weigh no more than this
  std::uint64_t hidden = 0;       // how many nodes have none
  std::uint64_t hidden_self = 0;  // their own weights together
};

// Nodes of at least a `parts`th of the total, the heaviest, in at most `limit` boxes. Thin siblings share a box where
// together they are wide enough for one. A tree with a single trigger begins with it, others with a box for all.
Layout lay_out(const CallTree& tree, std::uint64_t parts, std::size_t limit);

}  // namespace flamb
