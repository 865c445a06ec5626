#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "debugger.h"
#include "result.h"

namespace flamb {

// What overwrites the start of a function: jmp rel32.
constexpr std::size_t patch_size = 5;

// A function's code as it lies in the target's memory, with no breakpoint in it.
struct FunctionCode {
  Address entry = 0;
  std::size_t size = 0;  // of the function itself
  // From the entry to the function's end or, if that is nearer than a patch is long, to the next function.
  std::span<const std::byte> bytes;
};

// A list that lies within its owner: there is one continuation a function, and no allocation.
template <class T, std::size_t Capacity>
class ShortList {
 public:
  void push_back(const T& item) { items_.at(size_++) = item; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t index) { return items_.at(index); }
  const T& operator[](std::size_t index) const { return items_.at(index); }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }

 private:
  std::array<T, Capacity> items_{};
  std::size_t size_ = 0;
};

// What changes for an unwinder at an offset of a continuation.
struct UnwindRow {
  enum class Change : std::uint8_t { none, saved, restored };

  std::uint8_t offset = 0;  // of the instruction from which on it holds
  // The callee-saved register that has just been pushed, so that it lies `cfa_distance` below the canonical frame
  // address; or popped.
  Change change = Change::none;
  std::uint8_t dwarf_register = 0;
  std::uint32_t cfa_distance = 8;  // from the stack pointer up to the canonical frame address: 8 at the start
};

// Code that does what a function does while the function's start is overwritten: the first instructions, made to run
// elsewhere, and the jump to those behind them. Expects the stack as it is at the function's entry.
struct Continuation {
  // Four short instructions before the last byte of a patch, at worst widened jumps, and the longest of all: a call.
  static constexpr std::size_t max_size = 48;
  static constexpr std::size_t max_rows = 8;

  ShortList<std::uint8_t, max_size> code;
  ShortList<UnwindRow, max_rows> rows;
  std::size_t replaced = 0;  // how many bytes of the function it stands for: whole instructions, or up to their end
};

// The continuation of a function for the address `to`. The error says why the function cannot be patched.
Result<Continuation> relocate(const FunctionCode& function, Address to);

}  // namespace flamb
