#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <map>
#include <vector>

#include "fake_debugger.h"

namespace flamb {

inline constexpr Address text = 0x1000;
inline constexpr Address data = 0x2000;
inline constexpr ThreadId thread = 1;

// A target of two pages, text and data, and one thread.
class OneThread final : public FakeDebugger {
 public:
  OneThread() : memory(0x2000) {}

  Result<void> read_memory(Address from, std::span<std::byte> bytes) override {
    if (from < text || from + bytes.size() > text + memory.size()) return fail(Fault::target, "unmapped");
    std::memcpy(bytes.data(), memory.data() + (from - text), bytes.size());
    return {};
  }
  Result<std::uint64_t> read_register(ThreadId, Register which) override { return registers[which]; }

  void put(Address at, std::initializer_list<int> bytes) {
    for (const int byte : bytes) memory[at++ - text] = static_cast<std::byte>(byte);
  }
  void put_word(Address at, std::uint64_t word) { std::memcpy(memory.data() + (at - text), &word, sizeof(word)); }

  std::vector<std::byte> memory;
  std::map<Register, std::uint64_t> registers;
};

}  // namespace flamb
