#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <vector>

#include "call_tree.h"

namespace flamb {

// Visits the nodes below the root, each before its children, these in order of first entry. `enter(id)` says whether to
// visit the node's children; `leave(id)` follows when those are done. Takes no memory, however deep the tree.
template <class Enter, class Leave>
void walk(const CallTree& tree, Enter enter, Leave leave) {
  NodeId id = tree[CallTree::root].first_child;
  while (id != CallTree::none) {
    if (enter(id) && tree[id].first_child != CallTree::none) {
      id = tree[id].first_child;
      continue;
    }
    leave(id);
    while (tree[id].next_sibling == CallTree::none) {
      id = tree[id].parent;
      if (id == CallTree::root) return;
      leave(id);
    }
    id = tree[id].next_sibling;
  }
}

// Which nodes are shown where not all can be: at most `limit`, the heaviest, each with a total of at least `least`.
// Among equals those entered first. The parent of a shown node is always shown.
class Cut {
 public:
  // `totals` are those of the tree and must outlive this.
  Cut(const std::vector<std::uint64_t>& totals, std::uint64_t least, std::size_t limit)
      : totals_(totals), least_(least), last_(CallTree::none) {
    std::vector<std::uint64_t> candidates;
    std::copy_if(totals.begin() + 1, totals.end(), std::back_inserter(candidates),
                 [least](std::uint64_t total) { return total >= least; });
    if (candidates.size() <= limit) return;
    const auto nth = candidates.begin() + static_cast<std::ptrdiff_t>(limit);
    std::nth_element(candidates.begin(), nth, candidates.end(), std::greater<>());
    least_ = *nth;
    const auto heavier = std::count_if(candidates.begin(), nth, [this](std::uint64_t total) { return total > least_; });
    last_ = nth_with_total(least_, limit - static_cast<std::size_t>(heavier));
  }

  bool shows(NodeId id) const { return totals_[id] > least_ || (totals_[id] == least_ && id <= last_); }

  // All that is shown weighs at least this, all else at most this.
  std::uint64_t least() const { return least_; }

 private:
  NodeId nth_with_total(std::uint64_t total, std::size_t n) const {
    NodeId found = CallTree::root;
    for (NodeId id = 1; n > 0; ++id) {
      if (totals_[id] != total) continue;
      found = id;
      --n;
    }
    return found;
  }

  const std::vector<std::uint64_t>& totals_;
  std::uint64_t least_;
  NodeId last_;  // of those with just this weight, the last that is shown
};

}  // namespace flamb
