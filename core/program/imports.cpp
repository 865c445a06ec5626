#include "program/imports.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace flamb {
namespace {

constexpr std::uint64_t usual_entry_size = 16;

std::string_view symbol_name(const ElfImage& image, const ElfImage::Section& table, const Elf64_Sym& symbol) {
  const char* name = elf_strptr(image.elf(), table.header.sh_link, symbol.st_name);
  return name != nullptr ? std::string_view(name) : std::string_view();
}

bool begins_with(std::span<const std::byte> bytes, std::initializer_list<unsigned> pattern) {
  return bytes.size() >= pattern.size() &&
         std::equal(pattern.begin(), pattern.end(), bytes.begin(),
                    [](unsigned expected, std::byte actual) { return std::byte(expected) == actual; });
}

// Without `endbr64` and a `bnd` prefix.
std::span<const std::byte> without_prefix(std::span<const std::byte> entry) {
  if (begins_with(entry, {0xf3, 0x0f, 0x1e, 0xfa})) entry = entry.subspan(4);
  if (begins_with(entry, {0xf2})) entry = entry.subspan(1);
  return entry;
}

std::int32_t read_int32(std::span<const std::byte> bytes) {
  std::int32_t value = 0;
  if (bytes.size() >= sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

Imports::Imports(const ElfImage& image, const SymbolTable& symbols) {
  for (const ElfImage::Section& section : image.sections()) {
    if (!section.is_loaded()) continue;
    if (section.header.sh_type == SHT_RELA) read_relocations(image, section, symbols);
    if (section.header.sh_type == SHT_RELR) read_compact_relocations(image, section);
  }
  read_canonical_entries(image);
  for (const ElfImage::Section& section : image.sections()) {
    if (section.is_plt()) read_plt(section);
  }
}

std::string_view Imports::at(std::uint64_t address) const {
  for (const Plt& plt : plts_) {
    const std::uint64_t index = (address - plt.start) / plt.entry_size;
    if (address >= plt.start && index < plt.names.size()) return plt.names[index];
  }
  const auto slot = slots_.find(address);
  return slot != slots_.end() ? slot->second : std::string_view();
}

std::vector<Imports::Place> Imports::places() const {
  std::vector<Place> all;
  for (const Plt& plt : plts_) {
    for (std::size_t index = 0; index < plt.names.size(); ++index) {
      if (plt.names[index].empty()) continue;
      all.push_back({plt.start + index * plt.entry_size, plt.names[index], true, plt.binds[index]});
    }
  }
  for (const auto& [address, name] : slots_) {
    if (!name.empty()) all.push_back({address, name, false, false});
  }
  std::ranges::sort(all, {}, &Place::address);
  return all;
}

void Imports::read_relocations(const ElfImage& image, const ElfImage::Section& section, const SymbolTable& symbols) {
  const ElfImage::Section* table = image.section(section.header.sh_link);
  const std::span<const Elf64_Sym> known =
      table != nullptr ? table->entries<Elf64_Sym>() : std::span<const Elf64_Sym>();
  const bool is_lazy = section.name == ".rela.plt";
  for (const Elf64_Rela& relocation : section.entries<Elf64_Rela>()) {
    std::string_view called;
    const std::size_t index = ELF64_R_SYM(relocation.r_info);
    switch (ELF64_R_TYPE(relocation.r_info)) {
      case R_X86_64_RELATIVE: relocated_addresses_.push_back(static_cast<std::uint64_t>(relocation.r_addend)); break;
      case R_X86_64_IRELATIVE: {
        const auto resolver = static_cast<std::uint64_t>(relocation.r_addend);
        if (const CodeSymbol* function = symbols.starting_at(resolver)) called = function->name;
        slots_[relocation.r_offset] = called;
        break;
      }
      case R_X86_64_JUMP_SLOT:
        if (index < known.size()) called = symbol_name(image, *table, known[index]);
        slots_[relocation.r_offset] = called;
        break;
      case R_X86_64_GLOB_DAT:
      case R_X86_64_64:
        if (index < known.size()) add_symbolic(relocation, known[index], symbol_name(image, *table, known[index]));
        break;
      default: break;
    }
    if (is_lazy) lazy_.push_back(called);
  }
}

void Imports::add_symbolic(const Elf64_Rela& relocation, const Elf64_Sym& symbol, std::string_view name) {
  if (symbol.st_shndx != SHN_UNDEF) {
    relocated_addresses_.push_back(symbol.st_value + static_cast<std::uint64_t>(relocation.r_addend));
  }
  if (relocation.r_addend == 0) referenced_names_.push_back(name);
  const int type = ELF64_ST_TYPE(symbol.st_info);
  const bool can_be_called = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
  if (ELF64_R_TYPE(relocation.r_info) == R_X86_64_GLOB_DAT && can_be_called) slots_[relocation.r_offset] = name;
}

// SHT_RELR: an even word is an address; an odd one a bitmap of which of the 63 words that follow are relocated too.
void Imports::read_compact_relocations(const ElfImage& image, const ElfImage::Section& section) {
  const ElfImage::Section* holder = nullptr;
  const auto take = [&](std::uint64_t address) {
    if (holder == nullptr || address < holder->header.sh_addr || address >= holder->end()) {
      holder = image.section_at(address);
    }
    if (holder == nullptr) return;
    const std::size_t offset = address - holder->header.sh_addr;
    std::uint64_t value = 0;
    if (offset + sizeof value > holder->bytes.size()) return;
    std::memcpy(&value, holder->bytes.data() + offset, sizeof value);
    relocated_addresses_.push_back(value);
  };
  constexpr std::uint64_t word = sizeof(std::uint64_t);
  std::uint64_t next = 0;
  for (const std::uint64_t entry : section.entries<std::uint64_t>()) {
    if ((entry & 1) == 0) {
      take(entry);
      next = entry + word;
      continue;
    }
    for (std::uint64_t bit = 1; bit < 64; ++bit) {
      if ((entry >> bit & 1) != 0) take(next + (bit - 1) * word);
    }
    next += 63 * word;
  }
}

// A program that is linked to a fixed address and takes that of a library's function gets the address of its own PLT
// entry.
void Imports::read_canonical_entries(const ElfImage& image) {
  for (const ElfImage::Section& section : image.sections()) {
    if (section.header.sh_type != SHT_DYNSYM) continue;
    for (const Elf64_Sym& symbol : section.entries<Elf64_Sym>()) {
      if (symbol.st_shndx == SHN_UNDEF && symbol.st_value != 0) {
        referenced_names_.push_back(symbol_name(image, section, symbol));
      }
    }
  }
}

void Imports::read_plt(const ElfImage::Section& section) {
  // Only .plt.got is made of smaller entries; some linkers leave the size out.
  const std::uint64_t entry_size = section.header.sh_entsize == 8 ? 8 : usual_entry_size;
  Plt& plt = plts_.emplace_back(Plt{section.header.sh_addr, entry_size, {}, {}});
  for (std::size_t offset = 0; offset + entry_size <= section.bytes.size(); offset += entry_size) {
    const auto entry = section.bytes.subspan(offset, entry_size);
    plt.names.push_back(called_by(entry, plt.start + offset));
    plt.binds.push_back(begins_with(without_prefix(entry), {0x68}));
  }
}

// An entry is `jmp *slot(%rip)`, with `endbr64` or a `bnd` prefix before it; or, where those moved to .plt.sec, `push
// number` of the relocation and a jump to the resolver.
std::string_view Imports::called_by(std::span<const std::byte> entry, std::uint64_t address) const {
  const std::size_t size = entry.size();
  entry = without_prefix(entry);
  if (begins_with(entry, {0xff, 0x25})) {
    constexpr std::size_t length = 6;
    const std::uint64_t next = address + (size - entry.size()) + length;
    const auto slot = slots_.find(next + static_cast<std::uint64_t>(std::int64_t{read_int32(entry.subspan(2))}));
    return slot != slots_.end() ? slot->second : std::string_view();
  }
  if (begins_with(entry, {0x68})) {
    const auto number = static_cast<std::uint32_t>(read_int32(entry.subspan(1)));
    return number < lazy_.size() ? lazy_[number] : std::string_view();
  }
  return {};
}

}  // namespace flamb
