#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile.h"

// A perf.data file has addresses, no names: these are the functions of a library that is written beside it for the
// purpose. The target's own files would not do: perf looks names up anew there, without parameters and inlined frames,
// and they may be gone or rebuilt.
namespace flamb {

// The frames of one record are limited, since its size is 16 bits: 65,528 bytes, of which 64 are no frame.
constexpr std::size_t perf_max_frames = (65'528 - 64) / 8;

// Of a deeper stack the leaf and the frames at the root are kept; between them one frame says how many are not. So
// every call keeps its place in the graph, and every function what it weighs itself.
constexpr std::size_t perf_kept_at_root = perf_max_frames - 2;

// How many frames of a stack are not kept.
constexpr std::size_t perf_cut_frames(std::size_t depth) {
  return depth > perf_max_frames ? depth - perf_kept_at_root - 1 : 0;
}

// The library's functions: one for each distinct name of a profile's frames, and for each number of frames cut. Made of
// the same profile, it is the same.
class PerfNames {
 public:
  explicit PerfNames(const Profile& profile);

  // Within the library, amid the function: a reader that takes addresses for return addresses and subtracts one is
  // still in it.
  std::uint64_t address(FrameId frame) const { return begin(of_frames_[frame]) + size / 2; }
  std::uint64_t address_of_cut(std::size_t frames) const { return begin(of_cuts_.at(frames)) + size / 2; }

  // How many of the stacks that weigh something are not kept whole.
  std::uint64_t cut_stacks() const { return cut_stacks_; }

  // Name N is that of the function at begin(N); it takes `size` bytes.
  const std::vector<std::string>& names() const { return names_; }
  static constexpr std::uint64_t size = 16;
  static constexpr std::uint64_t first = 0x1000;
  static constexpr std::uint64_t begin(std::size_t name) { return first + name * size; }
  std::uint64_t end() const { return begin(names_.size()); }

 private:
  using Index = std::unordered_map<std::string, std::size_t>;
  void add_frame(FrameId id, const Frame& frame, Index& known);
  void add_cuts(const CallTree& tree);

  std::vector<std::string> names_;
  std::vector<std::size_t> of_frames_;          // by frame id: index of the name; `unused` if no node has that frame
  std::map<std::size_t, std::size_t> of_cuts_;  // index of the name
  std::uint64_t cut_stacks_ = 0;
  static constexpr std::size_t unused = SIZE_MAX;
};

}  // namespace flamb
