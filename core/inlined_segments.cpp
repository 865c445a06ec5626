#include "inlined_segments.h"

namespace flamb {

const std::vector<InlinedSegment>& InlinedSegments::of(const Block& block) {
  const auto [entry, is_new] = known_.try_emplace(block.start);
  std::vector<InlinedSegment>& segments = entry->second;
  if (!is_new) return segments;
  const Function* function = program_.function_at(block.start);
  for (const Address address : block.instructions) {
    std::vector<FrameId> inlined;
    if (function != nullptr) {
      for (const InlinedRange& range : program_.inlined(*function)) {
        if (range.start > address) break;
        if (address < range.end) inlined.push_back(range.frame);
      }
    }
    if (segments.empty() || segments.back().inlined != inlined) segments.push_back({std::move(inlined), 0});
    ++segments.back().instructions;
  }
  return segments;
}

}  // namespace flamb
