#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "call_tree.h"
#include "program/debug_names.h"
#include "program/elf_image.h"

namespace flamb {

// What an image's DWARF (4 or 5, in the file or apart) says of its functions. Addresses are those in the file. All
// answers are empty without debug information. Units are read when an address in them is asked for.
class DebugInfo {
 public:
  struct Declaration {
    std::string file;  // empty: not known
    std::uint32_t line = 0;
  };

  // Code of an inlined function; depth 0 is inlined into the function itself.
  struct InlinedCode {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t depth = 0;
    const Frame* callee = nullptr;  // belongs to this object
  };

  explicit DebugInfo(const ElfImage& image);
  DebugInfo(const DebugInfo&) = delete;
  DebugInfo& operator=(const DebugInfo&) = delete;

  // Where the function that holds the address is declared.
  Declaration declaration(std::uint64_t address);

  // All that is inlined into the function that holds the address, its cold part included: by start, outer before inner.
  std::vector<InlinedCode> inlined(std::uint64_t address);

  // Where functions of that name (without namespaces and arguments) are inlined, if `accept` says so of the whole name:
  // "file:line (in caller)", at most `limit`. Reads all of the debug information.
  std::vector<std::string> inlined_calls(std::string_view name, const std::function<bool(const std::string&)>& accept,
                                         std::size_t limit);

 private:
  struct Subprogram {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    Dwarf_Die die{};
  };
  struct Unit {
    Dwarf_Die die{};
    bool is_read = false;
    std::vector<Subprogram> subprograms;  // by start
  };
  struct UnitRange {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::size_t unit = 0;
  };

  void list_units();
  Unit* unit_at(std::uint64_t address);
  void read(Unit& unit);
  void read_scope(Unit& unit, Dwarf_Die& scope);
  Dwarf_Die* subprogram_at(std::uint64_t address);
  void collect_inlined(Dwarf_Die& scope, std::uint32_t depth, std::vector<InlinedCode>& found);
  const Frame& callee(Dwarf_Die& inlined);
  void read_unit_of(Dwarf_Die& die);

  struct InlinedSearch;
  void search(Dwarf_Die& scope, Dwarf_Die* caller, InlinedSearch& state);
  bool is_wanted(Dwarf_Die& inlined, InlinedSearch& state);

  std::string module_name_;
  DebugNames names_;
  Dwarf* dwarf_ = nullptr;
  Dwarf_Addr bias_ = 0;
  std::vector<Unit> units_;
  std::vector<UnitRange> unit_ranges_;                        // by start
  std::unordered_map<const void*, std::size_t> unit_of_die_;  // by the DIE of the unit itself
  std::unordered_map<const void*, Frame> callees_;            // by DIE of the abstract function
};

}  // namespace flamb
