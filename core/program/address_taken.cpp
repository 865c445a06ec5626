#include "program/address_taken.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace flamb {
namespace {

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Can the bytes be the first ones of `mov $imm32, %reg`, `push $imm32` or `mov $imm32, memory`?
bool is_immediate(std::span<const std::byte> before) {
  const std::byte last = before.back();
  if ((last & std::byte{0xf8}) == std::byte{0xb8} || last == std::byte{0x68}) return true;
  // c7 /0, then nothing, a SIB byte, a displacement of 8 or 32 bits, or both
  for (const std::size_t length : {2, 3, 4, 6, 7}) {
    if (before.size() < length) return false;
    const std::span<const std::byte> start = before.last(length);
    if (start[0] == std::byte{0xc7} && (start[1] & std::byte{0x38}) == std::byte{0}) return true;
  }
  return false;
}

class Scan {
 public:
  explicit Scan(const SymbolTable& symbols) : symbols_(symbols), taken_(symbols.functions().size()) {
    if (symbols.functions().empty()) return;
    lowest_ = symbols.functions().front().start;
    highest_ = symbols.functions().back().start;
  }

  void take(std::uint64_t address) {
    if (!is_in_range(address)) return;
    if (const CodeSymbol* function = symbols_.starting_at(address)) {
      taken_[static_cast<std::size_t>(function - symbols_.functions().data())] = true;
    }
  }

  // Position-independent code takes an address by `lea disp(%rip), %reg`: REX.W, 8d, mod 0 and r/m 5. Looking at every
  // byte is faster than decoding, and cannot lose its place in data between functions. A false hit has to equal a
  // function's start.
  void take_from_lea(const ElfImage::Section& section) {
    constexpr std::size_t length = 7;
    const std::byte* bytes = section.bytes.data();
    for (std::size_t offset = 0; offset + length <= section.bytes.size(); ++offset) {
      const bool is_lea = bytes[offset + 1] == std::byte{0x8d} &&
                          (bytes[offset] & std::byte{0xf8}) == std::byte{0x48} &&
                          (bytes[offset + 2] & std::byte{0xc7}) == std::byte{0x05};
      if (!is_lea) continue;
      const auto displacement = static_cast<std::uint64_t>(std::int64_t{read<std::int32_t>(bytes + offset + 3)});
      take(section.header.sh_addr + offset + length + displacement);
    }
  }

  // Code linked to a fixed address below 2 GiB has it as an immediate of 32 bits.
  void take_from_immediates(const ElfImage::Section& section) {
    for (std::size_t offset = 1; offset + sizeof(std::uint32_t) <= section.bytes.size(); ++offset) {
      const std::uint64_t value = read<std::uint32_t>(section.bytes.data() + offset);
      if (is_in_range(value) && is_immediate(section.bytes.first(offset))) take(value);
    }
  }

  void take_from_words(const ElfImage::Section& section) {
    constexpr std::size_t word = sizeof(std::uint64_t);
    for (std::size_t offset = 0; offset + word <= section.bytes.size(); offset += word) {
      take(read<std::uint64_t>(section.bytes.data() + offset));
    }
  }

  std::vector<std::uint64_t> result() const {
    std::vector<std::uint64_t> addresses;
    for (std::size_t index = 0; index < taken_.size(); ++index) {
      const CodeSymbol& function = symbols_.functions()[index];
      if (taken_[index] && !function.is_ifunc && !is_cold_part(function.name)) addresses.push_back(function.start);
    }
    return addresses;
  }

 private:
  bool is_in_range(std::uint64_t address) const { return lowest_ <= address && address <= highest_; }

  const SymbolTable& symbols_;
  std::vector<bool> taken_;  // by function
  std::uint64_t lowest_ = 1;
  std::uint64_t highest_ = 0;
};

// Could it hold pointers to functions that the program calls through?
bool holds_pointers(const ElfImage::Section& section) {
  const auto type = section.header.sh_type;
  const bool is_data =
      type == SHT_PROGBITS || type == SHT_INIT_ARRAY || type == SHT_FINI_ARRAY || type == SHT_PREINIT_ARRAY;
  return is_data && section.is_loaded() && !section.is_code() && !section.name.starts_with(".eh_frame") &&
         section.name != ".gcc_except_table" && section.name != ".interp";
}

}  // namespace

std::vector<std::uint64_t> address_taken(const ElfImage& image, const SymbolTable& symbols, const Imports& imports) {
  Scan scan(symbols);
  for (const std::uint64_t address : imports.relocated_addresses()) scan.take(address);
  for (const ElfImage::Section& section : image.sections()) {
    if (section.is_code() && !section.is_plt()) {
      scan.take_from_lea(section);
      if (image.is_fixed()) scan.take_from_immediates(section);
    } else if (image.is_fixed() && holds_pointers(section)) {
      scan.take_from_words(section);
    }
  }
  return scan.result();
}

}  // namespace flamb
