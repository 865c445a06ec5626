#pragma once

#include <elfutils/libdw.h>

#include <functional>
#include <string>
#include <unordered_map>

namespace flamb {

// The names of functions as debug information has them, written as a demangler writes those of symbols: the same
// function must look the same inlined and not.
class DebugNames {
 public:
  // `read_scopes` is called with a DIE before the scopes around it are asked for: it is to `remember` those of the
  // DIE's unit.
  explicit DebugNames(std::function<void(Dwarf_Die&)> read_scopes) : read_scopes_(std::move(read_scopes)) {}

  void remember(const Dwarf_Die& die, const Dwarf_Die& scope) { scopes_.emplace(die.addr, scope); }

  // With scopes and, in C++, with parameters. Of a concrete or an abstract function.
  std::string of(Dwarf_Die& function);

 private:
  std::string scopes_of(Dwarf_Die& die);
  std::string scope_name(Dwarf_Die& scope);
  std::string lambda(Dwarf_Die& closure);
  std::string parameters_of(Dwarf_Die& function);
  std::string type_of(Dwarf_Die& die);
  std::string type_name(Dwarf_Die& type);
  std::string pointer_to(Dwarf_Die& pointer, const char* mark);

  std::function<void(Dwarf_Die&)> read_scopes_;
  std::unordered_map<const void*, Dwarf_Die> scopes_;  // of scopes and functions, by their DIE's address
};

}  // namespace flamb
