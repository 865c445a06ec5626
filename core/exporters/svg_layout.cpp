#include "exporters/svg_layout.h"

#include <algorithm>

#include "exporters/tree_walk.h"

namespace flamb {
namespace {

class LayoutPass {
 public:
  LayoutPass(const CallTree& tree, const std::vector<std::uint64_t>& totals, const Cut& cut, std::uint64_t least)
      : tree_(tree), totals_(totals), cut_(cut), least_(least) {}

  Layout run() {
    layout_.total = totals_[CallTree::root];
    layout_.least = cut_.least();
    if (layout_.total == 0) return layout_;
    const NodeId first = tree_[CallTree::root].first_child;
    if (tree_[first].next_sibling != CallTree::none) add({.node = CallTree::root, .total = layout_.total});
    open_.push_back({.depth = layout_.rows});
    walk(
        tree_, [this](NodeId id) { return enter(id); }, [this](NodeId id) { leave(id); });
    close();
    layout_.hidden = tree_.nodes().size() - 1 - shown_;
    layout_.hidden_self = layout_.total - shown_self_;
    return std::move(layout_);
  }

 private:
  // A node whose children are being placed.
  struct Open {
    std::uint32_t depth = 0;       // of the children
    std::uint64_t next_begin = 0;  // of the next child
    std::uint64_t thin = 0;
    std::uint64_t thin_total = 0;
  };

  bool enter(NodeId id) {
    Open& parent = open_.back();
    if (!cut_.shows(id)) {
      ++parent.thin;
      parent.thin_total += totals_[id];
      return false;
    }
    add({.node = id, .depth = parent.depth, .begin = parent.next_begin, .total = totals_[id]});
    ++shown_;
    shown_self_ += tree_[id].self;
    const Open child{.depth = parent.depth + 1, .next_begin = parent.next_begin};
    parent.next_begin += totals_[id];
    open_.push_back(child);
    return true;
  }

  void leave(NodeId id) {
    if (cut_.shows(id)) close();
  }

  void close() {
    const Open& done = open_.back();
    if (done.thin > 0 && done.thin_total >= least_) {
      add({.depth = done.depth, .begin = done.next_begin, .total = done.thin_total, .thin = done.thin});
    }
    open_.pop_back();
  }

  void add(const Box& box) {
    layout_.boxes.push_back(box);
    layout_.rows = std::max(layout_.rows, box.depth + 1);
  }

  const CallTree& tree_;
  const std::vector<std::uint64_t>& totals_;
  const Cut& cut_;
  std::uint64_t least_;  // of a box for thin siblings
  std::vector<Open> open_;
  std::uint64_t shown_ = 0;
  std::uint64_t shown_self_ = 0;
  Layout layout_;
};

}  // namespace

Layout lay_out(const CallTree& tree, std::uint64_t parts, std::size_t limit) {
  const std::vector<std::uint64_t> totals = tree.totals();
  const std::uint64_t least = std::max<std::uint64_t>(1, totals[CallTree::root] / parts);
  // The boxes for thin siblings come on top of the nodes': how many is known only when all are placed.
  std::size_t nodes = limit;
  for (std::size_t step = 0;;) {
    const Cut cut(totals, least, nodes);
    Layout layout = LayoutPass(tree, totals, cut, std::max(least, cut.least())).run();
    if (layout.boxes.size() <= limit || nodes == 0) return layout;
    step = std::max(layout.boxes.size() - limit, step * 2);
    nodes -= std::min(nodes, step);
  }
}

}  // namespace flamb
