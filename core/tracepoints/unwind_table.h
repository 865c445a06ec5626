#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "debugger.h"
#include "tracepoints/relocation.h"

namespace flamb {

// How to unwind from each instruction of a stub library: .eh_frame, and .eh_frame_hdr by which it is searched.
class UnwindTable {
 public:
  static constexpr std::size_t max_entry_size = 96 + 8;  // in both sections
  static constexpr std::size_t max_fixed_size = 64;

  UnwindTable();

  // In the order of the addresses. `pushed` and `continued` are offsets in the stub: from where on it has pushed the
  // id, and where the continuation starts.
  void add(Address stub, std::size_t size, std::uint8_t pushed, std::uint8_t continued,
           const Continuation& continuation);

  struct Sections {
    std::vector<std::uint8_t> search_table;
    std::vector<std::uint8_t> entries;
  };

  // The entries are to lie behind the search table, at the next multiple of eight.
  Sections finish(Address search_table) &&;

 private:
  struct Entry {
    Address stub = 0;
    std::uint32_t offset = 0;
  };

  void put(std::uint8_t byte) { bytes_.push_back(byte); }
  void put_word(std::uint32_t word);
  void put_unsigned(std::uint32_t value);
  void put_row(std::uint8_t advance, std::uint32_t cfa_distance);
  // Fills up what began at that offset, its length first.
  void end_record(std::size_t start);

  std::vector<std::uint8_t> bytes_;
  std::vector<Entry> entries_;
};

}  // namespace flamb
