#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "call_sink.h"
#include "call_tree.h"

namespace flamb {

// The order in which the nodes of a call tree were entered and left, and what they weighed each time: the tree itself
// keeps sums.
//
// It takes some four bytes a call. Beyond its limit all of it is dropped: half an order is of no use where weights have
// to add up.
class Timeline {
 public:
  static constexpr std::size_t default_limit = 256U << 20U;  // bytes

  explicit Timeline(std::size_t limit = default_limit) : limit_(limit) {}

  void enter(NodeId node) { append(std::uint64_t{node} << 1U | 1U); }
  void leave() { append(0); }
  // Adds to the weight of the node that is open.
  void weigh(std::uint64_t weight) { weight_ += weight; }

  // Is the order known?
  bool is_complete() const { return !was_dropped_; }

  // The same order of another tree, in which node N is `nodes[N]`.
  Timeline renumbered(const std::vector<NodeId>& nodes) const;

  // Calls enter(NodeId), leave() and weigh(weight) in order. All that is entered is left.
  template <class Enter, class Leave, class Weigh>
  void replay(Enter enter, Leave leave, Weigh weigh) const;

 private:
  // An event is one word: 0 leaves, an odd one enters a node, any other weighs; the number is in the bits above the
  // lowest.
  void append(std::uint64_t word);
  void put(std::uint64_t word);

  std::size_t limit_;
  std::vector<std::uint8_t> bytes_;  // seven bits of a word each, the lowest first; the top bit says that more follow
  std::uint64_t weight_ = 0;         // of the open node, not yet put
  bool was_dropped_ = false;
};

// What an invocation's events are recorded in.
class Recording final : public CallSink {
 public:
  // Both must outlive it.
  Recording(CallTree& tree, Timeline& timeline) : tree_(tree), timeline_(timeline) {}

  void enter(FrameId frame) override;
  void leave() override;
  void weigh(std::uint64_t weight) override;

  // Leaves everything that is open.
  void finish();

 private:
  CallTree& tree_;
  Timeline& timeline_;
};

template <class Enter, class Leave, class Weigh>
void Timeline::replay(Enter enter, Leave leave, Weigh weigh) const {
  std::uint64_t word = 0;
  unsigned shift = 0;
  for (const std::uint8_t byte : bytes_) {
    word |= std::uint64_t{byte & 0x7FU} << shift;
    shift += 7;
    if ((byte & 0x80U) != 0) continue;
    if (word == 0) {
      leave();
    } else if ((word & 1U) != 0) {
      enter(static_cast<NodeId>(word >> 1U));
    } else {
      weigh(word >> 1U);
    }
    word = 0;
    shift = 0;
  }
}

}  // namespace flamb
