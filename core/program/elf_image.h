#pragma once

#include <elfutils/libdwfl.h>
#include <gelf.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "result.h"

namespace flamb {

// One ELF file of x86-64 code, as it lies on disk: all addresses are those in the file.
class ElfImage {
 public:
  struct Segment {  // what the loader maps
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    bool is_executable = false;
  };

  struct Section {
    std::string_view name;
    GElf_Shdr header{};
    std::span<const std::byte> bytes;  // empty where the file holds none (.bss)

    // The bytes as a table of T (Elf64_Sym, Elf64_Rela, ...).
    template <class T>
    std::span<const T> entries() const {
      return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    std::uint64_t end() const { return header.sh_addr + header.sh_size; }
    bool is_loaded() const { return (header.sh_flags & SHF_ALLOC) != 0; }
    bool is_code() const { return is_loaded() && (header.sh_flags & SHF_EXECINSTR) != 0; }
    bool is_plt() const { return is_code() && (name.starts_with(".plt") || name == ".iplt"); }
  };

  // The error names the path and what is wrong with the file.
  static Result<std::unique_ptr<ElfImage>> open(const std::string& path);

  const std::string& path() const { return path_; }
  // Linked to run at one address only: its data needs no relocation to hold addresses.
  bool is_fixed() const { return is_fixed_; }
  const std::vector<Segment>& segments() const { return segments_; }
  bool is_code(std::uint64_t address) const;

  // Read at the first call: opening an image must stay cheap.
  const std::vector<Section>& sections() const;
  // The section by that index in the file (sh_link, st_shndx); null if there is none.
  const Section* section(std::size_t index) const;
  const Section* section(std::string_view name) const;
  // The loaded section that holds the address, null if none does.
  const Section* section_at(std::uint64_t address) const;

  // For what libdwfl finds beyond the file: debug information and symbols, separate ones too.
  Dwfl_Module* module() const { return module_; }
  Elf* elf() const { return elf_; }

  // Is the file still what was opened, not one built anew under the same name?
  bool is_current() const;

 private:
  struct EndDwfl {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };
  // What tells one build of a file from another.
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;

    static Identity of(const std::string& path);
    friend bool operator==(const Identity&, const Identity&) = default;
  };

  ElfImage() = default;
  void read_segments();

  std::string path_;
  Identity identity_;
  std::unique_ptr<Dwfl, EndDwfl> dwfl_;
  Dwfl_Module* module_ = nullptr;
  Elf* elf_ = nullptr;
  bool is_fixed_ = false;
  std::vector<Segment> segments_;
  mutable std::vector<Section> sections_;
};

}  // namespace flamb
