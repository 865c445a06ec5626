#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace flamb {

// A piece of code that has unwind information of its own: a function, its cold part, or a whole PLT.
struct CodeRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

// The ranges that the entries (FDEs) of an .eh_frame section cover, in the section's order. `address` is that of the
// section in its file. Ends early at the first entry that makes no sense.
std::vector<CodeRange> read_eh_frame(std::span<const std::byte> section, std::uint64_t address);

}  // namespace flamb
