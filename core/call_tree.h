#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "call_sink.h"

namespace flamb {

// What the user sees of one function in a stack.
struct Frame {
  std::string name;    // demangled, with parameters: any UTF-8, never empty
  std::string module;  // file name of its module, may be empty
  std::string file;    // source file where it is defined, may be empty
  std::uint32_t line = 0;
  bool inlined = false;  // its code is part of the function that encloses it

  friend bool operator==(const Frame&, const Frame&) = default;
};

// Frames by id; equal frames share one.
class FrameTable {
 public:
  FrameId intern(const Frame& frame);
  const Frame& operator[](FrameId id) const { return frames_[id]; }
  std::size_t size() const { return frames_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const Frame& frame) const;
  };
  std::unordered_map<Frame, FrameId, Hash> ids_;
  std::vector<Frame> frames_;
};

using NodeId = std::uint32_t;

// One node per distinct stack. Node 0 is the root and stands for no frame. A child's id is always greater than
// its parent's, so walking ids backwards visits children before parents: no recursion is needed anywhere.
class CallTree final : public CallSink {
 public:
  static constexpr NodeId root = 0;
  static constexpr NodeId none = std::numeric_limits<NodeId>::max();

  struct Node {
    FrameId frame = 0;
    NodeId parent = none;
    NodeId first_child = none;  // in order of first entry
    NodeId next_sibling = none;
    std::uint64_t calls = 0;  // entries
    std::uint64_t self = 0;   // own weight, in the unit
  };

  struct Options {
    std::size_t max_depth = std::numeric_limits<std::size_t>::max();  // deeper frames count for the one at this depth
    bool collapse_recursion = false;  // a function called by itself stays in the same node
  };

  CallTree();
  explicit CallTree(Options options);

  void enter(FrameId frame) override;
  void leave() override;
  void weigh(std::uint64_t weight) override {
    if (current_ != root) nodes_[current_].self += weight;
  }

  // The node of the innermost open frame.
  NodeId current() const { return current_; }

  // Back to the root: an invocation is over, another may be added to the same tree.
  void finish();

  // Adds calls and weight to the node of a frame below another node, which is made if it is not there. Gives the node.
  NodeId add(NodeId parent, FrameId frame, std::uint64_t calls, std::uint64_t self);

  // There are calls deeper than Options::max_depth, which whoever adds nodes has counted for their callers.
  void note_cut() { was_cut_ = true; }

  // Adds another tree's calls and weights, stack by stack. Both use the same frame ids. Gives the node here of each of
  // the other's.
  std::vector<NodeId> add(const CallTree& other);

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& operator[](NodeId id) const { return nodes_[id]; }

  // Per node: its own weight and that of all below it.
  std::vector<std::uint64_t> totals() const;

  // The weight of all nodes together.
  std::uint64_t total_weight() const;

  // Does any stack go deeper than Options::max_depth?
  bool was_cut() const { return was_cut_; }

 private:
  NodeId child(NodeId parent, FrameId frame);
  NodeId find_child(NodeId parent, FrameId frame) const;
  NodeId add_child(NodeId parent, FrameId frame);
  std::size_t slot(NodeId parent, FrameId frame) const;
  void index(NodeId id);
  void grow_index();

  Options options_;
  std::vector<Node> nodes_;
  std::vector<NodeId> last_child_;          // by node: where the next child is linked
  std::vector<std::uint32_t> child_count_;  // by node
  std::vector<NodeId> slots_;  // a hash table of the children of nodes that have many; its size is a power of two, or 0
  std::size_t used_slots_ = 0;
  std::vector<NodeId> open_;  // what each open frame returns to, innermost last
  NodeId current_ = root;
  std::size_t depth_ = 0;  // of current_
  bool was_cut_ = false;
};

}  // namespace flamb
