#include "program/unwind_rules.h"

#include <dwarf.h>

#include <cstdlib>
#include <memory>

namespace flamb {
namespace {

// DWARF's own numbers of the registers on x86-64.
constexpr Dwarf_Word rbp = 6;
constexpr Dwarf_Word rsp = 7;

std::optional<UnwindRules::Rule> simple_rule(const Dwarf_Op* operations, std::size_t count) {
  if (operations == nullptr || count != 1) return std::nullopt;
  const Dwarf_Op& operation = operations[0];
  Dwarf_Word base = 0;
  Dwarf_Word offset = 0;
  if (operation.atom == DW_OP_bregx) {
    base = operation.number;
    offset = operation.number2;
  } else if (operation.atom >= DW_OP_breg0 && operation.atom <= DW_OP_breg31) {
    base = operation.atom - DW_OP_breg0;
    offset = operation.number;
  } else {
    return std::nullopt;
  }
  using Base = UnwindRules::Rule::Base;
  if (base == rsp) return UnwindRules::Rule{Base::stack_pointer, static_cast<std::int64_t>(offset)};
  if (base == rbp) return UnwindRules::Rule{Base::frame_pointer, static_cast<std::int64_t>(offset)};
  return std::nullopt;
}

std::optional<UnwindRules::Rule> rule_at(Dwarf_CFI* entries, Dwarf_Addr address) {
  Dwarf_Frame* found = nullptr;
  if (entries == nullptr || dwarf_cfi_addrframe(entries, address, &found) != 0) return std::nullopt;
  const std::unique_ptr<Dwarf_Frame, decltype(&std::free)> frame(found, &std::free);
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_frame_cfa(frame.get(), &operations, &count) != 0) return std::nullopt;
  return simple_rule(operations, count);
}

}  // namespace

UnwindRules::UnwindRules(const ElfImage& image) {
  eh_frame_.entries = dwfl_module_eh_cfi(image.module(), &eh_frame_.bias);
  // Code built without unwind tables can still have them for debuggers.
  debug_frame_.entries = dwfl_module_dwarf_cfi(image.module(), &debug_frame_.bias);
}

std::optional<UnwindRules::Rule> UnwindRules::at(std::uint64_t address) {
  const auto [known, is_new] = known_.try_emplace(address);
  if (is_new) {
    known->second = rule_at(eh_frame_.entries, address - eh_frame_.bias);
    if (!known->second) known->second = rule_at(debug_frame_.entries, address - debug_frame_.bias);
  }
  return known->second;
}

}  // namespace flamb
