#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "program/elf_image.h"
#include "program/symbol_table.h"

namespace flamb {

// What the dynamic loader fills in: the places in an image that stand for a function of another (or for one that is
// chosen when the program runs), and the words of its data that hold addresses. Addresses are those in the file.
class Imports {
 public:
  Imports(const ElfImage& image, const SymbolTable& symbols);

  // The linkage name of what is called through an address in a PLT entry, or through a slot of the GOT. Empty if it is
  // neither.
  std::string_view at(std::uint64_t address) const;

  // Every place for which `at` has a name.
  struct Place {
    std::uint64_t address = 0;
    std::string_view name;
    bool is_entry = false;   // of a PLT, else a slot of the GOT
    bool is_binder = false;  // an entry through which the dynamic loader binds, where calls go to another one
  };
  std::vector<Place> places() const;

  // The addresses in this image that relocations put into its data.
  const std::vector<std::uint64_t>& relocated_addresses() const { return relocated_addresses_; }
  // The names its data or its GOT refers to other than for a call through the PLT, wherever they are defined.
  const std::vector<std::string_view>& referenced_names() const { return referenced_names_; }

 private:
  struct Plt {
    std::uint64_t start = 0;
    std::uint64_t entry_size = 0;
    std::vector<std::string_view> names;  // by entry
    std::vector<bool> binds;              // by entry: it begins with the relocation's number
  };

  void read_relocations(const ElfImage& image, const ElfImage::Section& section, const SymbolTable& symbols);
  void add_symbolic(const Elf64_Rela& relocation, const Elf64_Sym& symbol, std::string_view name);
  void read_compact_relocations(const ElfImage& image, const ElfImage::Section& section);
  void read_canonical_entries(const ElfImage& image);
  void read_plt(const ElfImage::Section& section);
  std::string_view called_by(std::span<const std::byte> entry, std::uint64_t address) const;

  std::unordered_map<std::uint64_t, std::string_view> slots_;  // by address in the GOT
  std::vector<std::string_view> lazy_;                         // by number of the relocation in .rela.plt
  std::vector<Plt> plts_;
  std::vector<std::uint64_t> relocated_addresses_;
  std::vector<std::string_view> referenced_names_;
};

}  // namespace flamb
