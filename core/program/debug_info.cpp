#include "program/debug_info.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "program/dwarf_die.h"

namespace flamb {
namespace {

// Calls visit(start, end) for each range of addresses of a DIE that is not empty.
template <class Visit>
void for_each_range(Dwarf_Die& die, Dwarf_Addr bias, Visit visit) {
  Dwarf_Addr base = 0;
  Dwarf_Addr start = 0;
  Dwarf_Addr end = 0;
  std::ptrdiff_t offset = 0;
  while ((offset = dwarf_ranges(&die, offset, &base, &start, &end)) > 0) {
    // A linker that drops a function leaves its ranges at 0.
    if (start != 0 && start < end) visit(start + bias, end + bias);
  }
}

// The path that an attribute (DW_AT_decl_file, DW_AT_call_file) stands for; empty if it is not known. Not
// dwarf_decl_file: that ends the process where a unit has no table of files.
std::string source_file(Dwarf_Attribute* attribute) {
  Dwarf_Word index = 0;
  Dwarf_Die unit;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_formudata(attribute, &index) != 0) return {};
  if (dwarf_cu_die(attribute->cu, &unit, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) == nullptr) return {};
  if (dwarf_getsrcfiles(&unit, &files, &count) != 0 || index >= count) return {};
  const char* path = dwarf_filesrc(files, index, nullptr, nullptr);
  // "???" is libdw's name of entry 0 before DWARF 5
  if (path == nullptr || std::string_view(path) == "???") return {};
  return std::filesystem::path(path).lexically_normal().string();
}

DebugInfo::Declaration declaration_of(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  Dwarf_Word line = 0;
  DebugInfo::Declaration declaration;
  declaration.file = source_file(dwarf_attr_integrate(&die, DW_AT_decl_file, &attribute));
  if (declaration.file.empty()) return declaration;
  if (dwarf_formudata(dwarf_attr_integrate(&die, DW_AT_decl_line, &attribute), &line) == 0) {
    declaration.line = static_cast<std::uint32_t>(line);
  }
  return declaration;
}

// Where an inlined call stands in the source: "file:line".
std::string place_of_call(Dwarf_Die& inlined) {
  Dwarf_Attribute attribute;
  Dwarf_Word line = 0;
  dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_line, &attribute), &line);
  const std::string file = source_file(dwarf_attr(&inlined, DW_AT_call_file, &attribute));
  return fmt::format("{}:{}", file.empty() ? "?" : file, line);
}

bool is_code_scope(int tag) {
  return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

}  // namespace

DebugInfo::DebugInfo(const ElfImage& image)
    : module_name_(std::filesystem::path(image.path()).filename()),
      names_([this](Dwarf_Die& die) { read_unit_of(die); }) {
  dwarf_ = dwfl_module_getdwarf(image.module(), &bias_);
  if (dwarf_ != nullptr) list_units();
}

void DebugInfo::list_units() {
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  Dwarf_Die split;
  std::uint8_t type = 0;
  while (dwarf_get_units(dwarf_, unit, &unit, nullptr, &type, &die, &split) == 0) {
    const bool is_split = type == DW_UT_skeleton && split.addr != nullptr;
    units_.push_back({is_split ? split : die, false, {}});
    unit_of_die_.emplace(units_.back().die.addr, units_.size() - 1);
    for_each_range(die, bias_, [&](std::uint64_t start, std::uint64_t end) {
      unit_ranges_.push_back({start, end, units_.size() - 1});
    });
  }
  std::sort(unit_ranges_.begin(), unit_ranges_.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
}

DebugInfo::Unit* DebugInfo::unit_at(std::uint64_t address) {
  const auto after = std::upper_bound(unit_ranges_.begin(), unit_ranges_.end(), address,
                                      [](std::uint64_t value, const UnitRange& range) { return value < range.start; });
  if (after == unit_ranges_.begin() || address >= std::prev(after)->end) return nullptr;
  Unit& unit = units_[std::prev(after)->unit];
  read(unit);
  return &unit;
}

void DebugInfo::read(Unit& unit) {
  if (unit.is_read) return;
  unit.is_read = true;
  read_scope(unit, unit.die);
  std::sort(unit.subprograms.begin(), unit.subprograms.end(),
            [](const auto& a, const auto& b) { return a.start < b.start; });
}

void DebugInfo::read_scope(Unit& unit, Dwarf_Die& scope) {
  for_each_child(scope, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (!is_scope(tag)) return;
    names_.remember(child, scope);
    if (tag == DW_TAG_subprogram) {
      for_each_range(child, bias_, [&](std::uint64_t start, std::uint64_t end) {
        unit.subprograms.push_back({start, end, child});
      });
    }
    read_scope(unit, child);
  });
}

Dwarf_Die* DebugInfo::subprogram_at(std::uint64_t address) {
  Unit* unit = unit_at(address);
  if (unit == nullptr) return nullptr;
  const auto after = std::upper_bound(unit->subprograms.begin(), unit->subprograms.end(), address,
                                      [](std::uint64_t value, const Subprogram& each) { return value < each.start; });
  if (after == unit->subprograms.begin() || address >= std::prev(after)->end) return nullptr;
  return &std::prev(after)->die;
}

DebugInfo::Declaration DebugInfo::declaration(std::uint64_t address) {
  Dwarf_Die* function = subprogram_at(address);
  return function != nullptr ? declaration_of(*function) : Declaration{};
}

std::vector<DebugInfo::InlinedCode> DebugInfo::inlined(std::uint64_t address) {
  std::vector<InlinedCode> found;
  Dwarf_Die* function = subprogram_at(address);
  if (function != nullptr) collect_inlined(*function, 0, found);
  std::stable_sort(found.begin(), found.end(), [](const InlinedCode& a, const InlinedCode& b) {
    return std::pair(a.start, a.depth) < std::pair(b.start, b.depth);
  });
  return found;
}

void DebugInfo::collect_inlined(Dwarf_Die& scope, std::uint32_t depth, std::vector<InlinedCode>& found) {
  for_each_child(scope, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (is_code_scope(tag)) collect_inlined(child, depth, found);
    if (tag != DW_TAG_inlined_subroutine) return;
    const Frame& frame = callee(child);
    for_each_range(child, bias_, [&](std::uint64_t start, std::uint64_t end) {
      found.push_back({start, end, depth, &frame});
    });
    collect_inlined(child, depth + 1, found);
  });
}

const Frame& DebugInfo::callee(Dwarf_Die& inlined) {
  Dwarf_Die function = inlined;
  follow(inlined, DW_AT_abstract_origin, function);
  const auto [known, is_new] = callees_.try_emplace(function.addr);
  if (is_new) {
    const Declaration declaration = declaration_of(function);
    known->second = {names_.of(function), module_name_, declaration.file, declaration.line, true};
  }
  return known->second;
}

void DebugInfo::read_unit_of(Dwarf_Die& die) {
  Dwarf_Die unit;
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return;
  const auto known = unit_of_die_.find(unit.addr);
  if (known != unit_of_die_.end()) read(units_[known->second]);
}

struct DebugInfo::InlinedSearch {
  std::string_view name;
  const std::function<bool(const std::string&)>& accept;
  std::size_t limit;
  std::unordered_map<const void*, bool> accepted;  // by DIE of the abstract function
  std::set<std::string> places;
};

std::vector<std::string> DebugInfo::inlined_calls(std::string_view name,
                                                  const std::function<bool(const std::string&)>& accept,
                                                  std::size_t limit) {
  InlinedSearch state{name, accept, limit, {}, {}};
  for (Unit& unit : units_) search(unit.die, nullptr, state);
  return {state.places.begin(), state.places.end()};
}

void DebugInfo::search(Dwarf_Die& scope, Dwarf_Die* caller, InlinedSearch& state) {
  for_each_child(scope, [&](Dwarf_Die& child) {
    if (state.places.size() >= state.limit) return;
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_inlined_subroutine && caller != nullptr && is_wanted(child, state)) {
      state.places.insert(place_of_call(child) + " (in " + names_.of(*caller) + ")");
    }
    const bool is_function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
    if (is_scope(tag) || is_code_scope(tag) || is_function) search(child, is_function ? &child : caller, state);
  });
}

bool DebugInfo::is_wanted(Dwarf_Die& inlined, InlinedSearch& state) {
  Dwarf_Die function = inlined;
  follow(inlined, DW_AT_abstract_origin, function);
  const auto [known, is_new] = state.accepted.try_emplace(function.addr, false);
  if (is_new) {
    // The whole name is costly to make; DW_AT_name is that of the last component, with its template arguments.
    const std::string short_name = text_attribute(function, DW_AT_name);
    if (short_name.starts_with(state.name)) known->second = state.accept(names_.of(function));
  }
  return known->second;
}

}  // namespace flamb
