#include "program/eh_frame.h"

#include <dwarf.h>

#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>

// libdw decodes one entry at a time, by address; to list them all would cost it a run of each entry's program. The
// layout is that of the Linux Standard Base, "Exception Frames".
namespace flamb {
namespace {

class Reader {
 public:
  Reader(std::span<const std::byte> section, std::uint64_t address) : section_(section), address_(address) {}

  std::size_t offset() const { return offset_; }
  void seek(std::size_t offset) { offset_ = offset; }
  bool has(std::size_t size) const { return offset_ <= section_.size() && section_.size() - offset_ >= size; }

  template <class T>
  std::optional<T> read() {
    if (!has(sizeof(T))) return std::nullopt;
    T value;
    std::memcpy(&value, section_.data() + offset_, sizeof value);
    offset_ += sizeof value;
    return value;
  }

  std::string_view read_string() {
    const std::size_t from = offset_;
    while (has(1) && section_[offset_] != std::byte{0}) ++offset_;
    const std::string_view text(reinterpret_cast<const char*>(section_.data()) + from, offset_ - from);
    ++offset_;
    return text;
  }

  void skip_leb128() {
    while (has(1) && (section_[offset_++] & std::byte{0x80}) != std::byte{0}) {
    }
  }

  // A value in one of the DW_EH_PE encodings that compilers use for code.
  std::optional<std::uint64_t> read_encoded(std::uint8_t encoding) {
    const std::uint64_t at = address_ + offset_;
    const std::optional<std::uint64_t> value = read_format(encoding & 0x0f);
    if (!value) return std::nullopt;
    switch (encoding & 0x70) {
      case DW_EH_PE_absptr: return value;
      case DW_EH_PE_pcrel: return *value + at;
      default: return std::nullopt;
    }
  }

 private:
  std::optional<std::uint64_t> read_format(std::uint8_t format) {
    switch (format) {
      case DW_EH_PE_absptr:
      case DW_EH_PE_udata8:
      case DW_EH_PE_sdata8: return read<std::uint64_t>();
      case DW_EH_PE_udata4: return widen(read<std::uint32_t>());
      case DW_EH_PE_sdata4: return widen(read<std::int32_t>());
      case DW_EH_PE_udata2: return widen(read<std::uint16_t>());
      case DW_EH_PE_sdata2: return widen(read<std::int16_t>());
      default: return std::nullopt;
    }
  }

  template <class T>
  static std::optional<std::uint64_t> widen(std::optional<T> value) {
    if (!value) return std::nullopt;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(*value));
  }

  std::span<const std::byte> section_;
  std::uint64_t address_;
  std::size_t offset_ = 0;
};

// How the CIE whose contents begin at `offset` says that its entries' addresses are encoded.
std::uint8_t address_encoding(Reader reader, std::size_t offset) {
  reader.seek(offset);
  const std::uint8_t version = reader.read<std::uint8_t>().value_or(0);
  const std::string_view augmentation = reader.read_string();
  if (!augmentation.starts_with('z')) return DW_EH_PE_absptr;
  reader.skip_leb128();  // code alignment
  reader.skip_leb128();  // data alignment
  if (version == 1) {
    reader.read<std::uint8_t>();  // return address register
  } else {
    reader.skip_leb128();
  }
  reader.skip_leb128();  // length of what follows
  for (const char letter : augmentation.substr(1)) {
    if (letter == 'R') return reader.read<std::uint8_t>().value_or(DW_EH_PE_omit);
    if (letter == 'L') reader.read<std::uint8_t>();
    if (letter == 'P') reader.read_encoded(reader.read<std::uint8_t>().value_or(DW_EH_PE_omit) & 0x0f);
  }
  return DW_EH_PE_absptr;
}

}  // namespace

std::vector<CodeRange> read_eh_frame(std::span<const std::byte> section, std::uint64_t address) {
  std::vector<CodeRange> ranges;
  std::unordered_map<std::size_t, std::uint8_t> encodings;  // by offset of the CIE
  Reader reader(section, address);
  while (reader.has(sizeof(std::uint32_t))) {
    std::uint64_t length = *reader.read<std::uint32_t>();
    if (length == 0xffffffff) length = reader.read<std::uint64_t>().value_or(0);
    if (length == 0) continue;  // a terminator; linkers leave some in the middle
    const std::size_t entry = reader.offset();
    if (!reader.has(length) || length < sizeof(std::uint32_t)) break;

    const std::uint32_t cie_distance = *reader.read<std::uint32_t>();
    if (cie_distance != 0 && cie_distance <= entry) {
      const std::size_t cie = entry - cie_distance;
      const auto [known, is_new] = encodings.try_emplace(cie);
      if (is_new) known->second = address_encoding(reader, cie + 2 * sizeof(std::uint32_t));
      const std::optional<std::uint64_t> start = reader.read_encoded(known->second);
      const std::optional<std::uint64_t> size = reader.read_encoded(known->second & 0x0f);
      if (start && size && *start != 0 && *size != 0) ranges.push_back({*start, *start + *size});
    }
    reader.seek(entry + length);
  }
  return ranges;
}

}  // namespace flamb
