#include "tracepoints/unwind_table.h"

#include <dwarf.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace flamb {
namespace {

constexpr std::uint8_t rsp = 7;  // DWARF's numbers
constexpr std::uint8_t return_address = 16;
constexpr std::uint32_t word = 8;
constexpr std::size_t code_address = 8;  // where in an entry the address of its code is
constexpr std::uint8_t relative = DW_EH_PE_pcrel | DW_EH_PE_sdata4;
constexpr std::size_t search_header = 12;

std::uint32_t distance(Address from, Address to) { return static_cast<std::uint32_t>(to - from); }

void set(std::vector<std::uint8_t>& bytes, std::size_t at, std::uint32_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

}  // namespace

// The one CIE: at a function's entry the stack pointer is at the return address.
UnwindTable::UnwindTable() {
  put_word(0);
  put_word(0);
  constexpr std::uint8_t version = 1;
  constexpr std::uint8_t minus_word = 0x78;  // as a signed LEB128 number
  for (const std::uint8_t byte :
       {version, std::uint8_t{'z'}, std::uint8_t{'R'}, std::uint8_t{0}, std::uint8_t{1}, minus_word, return_address,
        std::uint8_t{1}, relative, std::uint8_t{DW_CFA_def_cfa}, rsp, std::uint8_t{word},
        std::uint8_t{DW_CFA_offset | return_address}, std::uint8_t{1}}) {
    put(byte);
  }
  end_record(0);
}

void UnwindTable::add(Address stub, std::size_t size, std::uint8_t pushed, std::uint8_t continued,
                      const Continuation& continuation) {
  const std::size_t start = bytes_.size();
  entries_.push_back({stub, static_cast<std::uint32_t>(start)});
  put_word(0);
  put_word(static_cast<std::uint32_t>(start + sizeof(std::uint32_t)));  // back to the CIE
  put_word(0);
  put_word(static_cast<std::uint32_t>(size));
  put(0);  // no augmentation data
  put_row(pushed, 2 * word);
  put_row(continued - pushed, word);
  std::uint8_t last = 0;
  for (const UnwindRow& row : continuation.rows) {
    put_row(row.offset - std::exchange(last, row.offset), row.cfa_distance);
    if (row.change == UnwindRow::Change::restored) put(DW_CFA_restore | row.dwarf_register);
    if (row.change != UnwindRow::Change::saved) continue;
    put(DW_CFA_offset | row.dwarf_register);
    put_unsigned(row.cfa_distance / word);
  }
  end_record(start);
}

UnwindTable::Sections UnwindTable::finish(Address search_table) && {
  put_word(0);
  std::vector<std::uint8_t> table(search_header + 8 * entries_.size());
  const Address start = (search_table + table.size() + 7) & ~Address{7};
  table[0] = 1;  // version
  table[1] = relative;
  table[2] = DW_EH_PE_udata4;
  table[3] = DW_EH_PE_datarel | DW_EH_PE_sdata4;
  set(table, 4, distance(search_table + 4, start));
  set(table, 8, static_cast<std::uint32_t>(entries_.size()));
  std::size_t at = search_header;
  for (const Entry& entry : entries_) {
    set(bytes_, entry.offset + code_address, distance(start + entry.offset + code_address, entry.stub));
    set(table, at, distance(search_table, entry.stub));
    set(table, at + 4, distance(search_table, start + entry.offset));
    at += 8;
  }
  return {std::move(table), std::move(bytes_)};
}

void UnwindTable::put_word(std::uint32_t word) {
  bytes_.resize(bytes_.size() + sizeof word);
  set(bytes_, bytes_.size() - sizeof word, word);
}

void UnwindTable::put_unsigned(std::uint32_t value) {
  for (; value >= 0x80; value >>= 7) put(static_cast<std::uint8_t>(value | 0x80));
  put(static_cast<std::uint8_t>(value));
}

void UnwindTable::put_row(std::uint8_t advance, std::uint32_t cfa_distance) {
  if (advance > 0) put(DW_CFA_advance_loc | advance);
  put(DW_CFA_def_cfa_offset);
  put_unsigned(cfa_distance);
}

void UnwindTable::end_record(std::size_t start) {
  while (bytes_.size() % 8 != 0) put(DW_CFA_nop);
  set(bytes_, start, static_cast<std::uint32_t>(bytes_.size() - start - sizeof(std::uint32_t)));
}

}  // namespace flamb
