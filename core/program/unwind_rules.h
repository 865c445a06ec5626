#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "program/elf_image.h"

namespace flamb {

// Where frames lie, from an image's unwind information. Addresses are those in the file.
class UnwindRules {
 public:
  // The canonical frame address is the value of one register plus an offset.
  struct Rule {
    enum class Base : std::uint8_t { stack_pointer, frame_pointer };
    Base base = Base::stack_pointer;
    std::int64_t offset = 0;
  };

  explicit UnwindRules(const ElfImage& image);

  // The rule in force during the instruction that holds the address; nothing where there is none or it is more than
  // that.
  std::optional<Rule> at(std::uint64_t address);

 private:
  struct Source {
    Dwarf_CFI* entries = nullptr;
    Dwarf_Addr bias = 0;
  };

  Source eh_frame_;
  Source debug_frame_;
  std::unordered_map<std::uint64_t, std::optional<Rule>> known_;
};

}  // namespace flamb
