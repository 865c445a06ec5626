#include "timeline.h"

namespace flamb {

// What the open node has weighed comes before what happens next.
void Timeline::append(std::uint64_t word) {
  if (was_dropped_) return;
  if (weight_ > 0) put(weight_ << 1U);
  weight_ = 0;
  put(word);
  if (bytes_.size() <= limit_) return;
  was_dropped_ = true;
  bytes_ = {};
}

void Timeline::put(std::uint64_t word) {
  constexpr std::uint64_t low = 0x7F;
  for (; word > low; word >>= 7U) bytes_.push_back(static_cast<std::uint8_t>(word | 0x80U));
  bytes_.push_back(static_cast<std::uint8_t>(word));
}

Timeline Timeline::renumbered(const std::vector<NodeId>& nodes) const {
  Timeline result(limit_);
  result.was_dropped_ = was_dropped_;
  replay([&](NodeId node) { result.enter(nodes[node]); }, [&] { result.leave(); },
         [&](std::uint64_t weight) { result.weigh(weight); });
  return result;
}

// A frame that the tree does not keep apart, because it is too deep or recursion is collapsed, is no event.
void Recording::enter(FrameId frame) {
  const NodeId before = tree_.current();
  tree_.enter(frame);
  if (tree_.current() != before) timeline_.enter(tree_.current());
}

void Recording::leave() {
  const NodeId before = tree_.current();
  tree_.leave();
  if (tree_.current() != before) timeline_.leave();
}

void Recording::weigh(std::uint64_t weight) {
  tree_.weigh(weight);
  if (tree_.current() != CallTree::root) timeline_.weigh(weight);
}

void Recording::finish() {
  while (tree_.current() != CallTree::root) leave();
  tree_.finish();
}

}  // namespace flamb
