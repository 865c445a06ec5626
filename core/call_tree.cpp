#include "call_tree.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace flamb {
namespace {

// Above so many children a list is too slow to search; most nodes have one or two.
constexpr std::uint32_t wide_from = 16;

constexpr std::size_t first_slots = 1024;

std::size_t hash(NodeId parent, FrameId frame) {
  const std::uint64_t mixed = (std::uint64_t{parent} << 32 | frame) * 0x9E3779B97F4A7C15;
  return mixed ^ (mixed >> 32);
}

}  // namespace

std::size_t FrameTable::Hash::operator()(const Frame& frame) const {
  const std::hash<std::string> hash;
  return hash(frame.name) ^ (hash(frame.module) * 3) ^ (hash(frame.file) * 5) ^ (std::size_t{frame.line} << 1) ^
         std::size_t{frame.inlined};
}

FrameId FrameTable::intern(const Frame& frame) {
  const auto [entry, is_new] = ids_.try_emplace(frame, static_cast<FrameId>(frames_.size()));
  if (is_new) frames_.push_back(frame);
  return entry->second;
}

CallTree::CallTree() : CallTree(Options{}) {}

CallTree::CallTree(Options options) : options_(options), nodes_(1), last_child_(1, none), child_count_(1, 0) {}

void CallTree::enter(FrameId frame) {
  open_.push_back(current_);
  const bool is_collapsed = options_.collapse_recursion && current_ != root && nodes_[current_].frame == frame;
  const bool is_too_deep = depth_ >= options_.max_depth;
  was_cut_ |= is_too_deep;
  if (!is_collapsed && !is_too_deep) {
    current_ = child(current_, frame);
    ++depth_;
  }
  if (!is_too_deep) ++nodes_[current_].calls;
}

void CallTree::leave() {
  if (open_.empty()) return;
  if (open_.back() != current_) --depth_;
  current_ = open_.back();
  open_.pop_back();
}

void CallTree::finish() {
  open_.clear();
  current_ = root;
  depth_ = 0;
}

NodeId CallTree::add(NodeId parent, FrameId frame, std::uint64_t calls, std::uint64_t self) {
  const bool is_collapsed = options_.collapse_recursion && parent != root && nodes_[parent].frame == frame;
  const NodeId id = is_collapsed ? parent : child(parent, frame);
  nodes_[id].calls += calls;
  nodes_[id].self += self;
  return id;
}

std::vector<NodeId> CallTree::add(const CallTree& other) {
  std::vector<NodeId> own(other.nodes_.size(), root);
  for (std::size_t id = 1; id < other.nodes_.size(); ++id) {
    const Node& node = other.nodes_[id];
    own[id] = add(own[node.parent], node.frame, node.calls, node.self);
  }
  was_cut_ = was_cut_ || other.was_cut_;
  return own;
}

std::vector<std::uint64_t> CallTree::totals() const {
  std::vector<std::uint64_t> totals(nodes_.size());
  for (std::size_t id = nodes_.size(); id-- > 0;) {
    totals[id] += nodes_[id].self;
    if (nodes_[id].parent != none) totals[nodes_[id].parent] += totals[id];
  }
  return totals;
}

std::uint64_t CallTree::total_weight() const {
  return std::accumulate(nodes_.begin(), nodes_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Node& node) { return sum + node.self; });
}

NodeId CallTree::child(NodeId parent, FrameId frame) {
  const NodeId found = find_child(parent, frame);
  return found != none ? found : add_child(parent, frame);
}

NodeId CallTree::find_child(NodeId parent, FrameId frame) const {
  if (child_count_[parent] > wide_from) {
    return slots_[slot(parent, frame)];
  }
  NodeId id = nodes_[parent].first_child;
  while (id != none && nodes_[id].frame != frame) id = nodes_[id].next_sibling;
  return id;
}

NodeId CallTree::add_child(NodeId parent, FrameId frame) {
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back({.frame = frame, .parent = parent});
  last_child_.push_back(none);
  child_count_.push_back(0);

  if (last_child_[parent] == none) {
    nodes_[parent].first_child = id;
  } else {
    nodes_[last_child_[parent]].next_sibling = id;
  }
  last_child_[parent] = id;

  if (++child_count_[parent] == wide_from + 1) {
    for (NodeId each = nodes_[parent].first_child; each != none; each = nodes_[each].next_sibling) {
      index(each);
    }
  } else if (child_count_[parent] > wide_from) {
    index(id);
  }
  return id;
}

// Where the child is, or would be put.
std::size_t CallTree::slot(NodeId parent, FrameId frame) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash(parent, frame) & mask;
  while (slots_[at] != none && (nodes_[slots_[at]].parent != parent || nodes_[slots_[at]].frame != frame)) {
    at = (at + 1) & mask;
  }
  return at;
}

void CallTree::index(NodeId id) {
  if (++used_slots_ * 2 > slots_.size()) grow_index();
  slots_[slot(nodes_[id].parent, nodes_[id].frame)] = id;
}

void CallTree::grow_index() {
  std::vector<NodeId> old(std::max(first_slots, slots_.size() * 2), none);
  old.swap(slots_);
  for (const NodeId id : old) {
    if (id != none) slots_[slot(nodes_[id].parent, nodes_[id].frame)] = id;
  }
}

}  // namespace flamb
