#pragma once

#include <unordered_map>
#include <vector>

#include "code.h"
#include "program/program.h"

namespace flamb {

// Consecutive instructions of a block at which the same calls are inlined.
struct InlinedSegment {
  std::vector<FrameId> inlined;  // outer first
  std::uint64_t instructions = 0;
};

// The segments of blocks, found out once each.
class InlinedSegments {
 public:
  explicit InlinedSegments(Program& program) : program_(program) {}

  // In order of address; all of the block's instructions are in one.
  const std::vector<InlinedSegment>& of(const Block& block);

  // Libraries came or went.
  void forget() { known_.clear(); }

 private:
  Program& program_;
  std::unordered_map<Address, std::vector<InlinedSegment>> known_;  // by the block's start
};

}  // namespace flamb
