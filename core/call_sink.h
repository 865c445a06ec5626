#pragma once

#include <cstdint>

namespace flamb {

// Index of a frame in a FrameTable.
using FrameId = std::uint32_t;

// What collectors feed: the events of one invocation on one thread, in order. Every `enter` is matched by a
// later `leave`, or by `finish`.
class CallSink {
 public:
  virtual ~CallSink() = default;

  // Control enters a function (or code inlined into one).
  virtual void enter(FrameId frame) = 0;

  // Control leaves the innermost function that is still open. None open is no error: nothing happens.
  virtual void leave() = 0;

  // Adds to the innermost open function's own weight, in the profile's unit. None open: nothing happens.
  virtual void weigh(std::uint64_t weight) = 0;
};

}  // namespace flamb
