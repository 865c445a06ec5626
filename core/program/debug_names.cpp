#include "program/debug_names.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "program/demangle.h"
#include "program/dwarf_die.h"

namespace flamb {
namespace {

constexpr std::string_view call_operator = "operator()";

std::string linkage_name(Dwarf_Die& die) {
  std::string name = text_attribute(die, DW_AT_linkage_name);
  return !name.empty() ? name : text_attribute(die, DW_AT_MIPS_linkage_name);
}

bool is_cxx(Dwarf_Die& die) {
  constexpr int cxx17 = 0x2a;  // assigned after DWARF 5: libdw has no names for them yet
  constexpr int cxx20 = 0x2b;
  Dwarf_Die unit;
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return false;
  switch (dwarf_srclang(&unit)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case cxx17:
    case cxx20: return true;
    default: return false;
  }
}

// A demangler's names of the types whose name in debug information is another one.
std::string base_type_name(std::string name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> names = {{
      {"long int", "long"},
      {"long unsigned int", "unsigned long"},
      {"long long int", "long long"},
      {"long long unsigned int", "unsigned long long"},
      {"short int", "short"},
      {"short unsigned int", "unsigned short"},
  }};
  for (const auto& [debug, demangled] : names) {
    if (name == debug) return std::string(demangled);
  }
  return name;
}

// The function of a class by that name, if it has one.
std::optional<Dwarf_Die> member(Dwarf_Die& scope, std::string_view name) {
  std::optional<Dwarf_Die> found;
  for_each_child(scope, [&](Dwarf_Die& child) {
    if (!found && dwarf_tag(&child) == DW_TAG_subprogram && text_attribute(child, DW_AT_name) == name) found = child;
  });
  return found;
}

bool is_lambda(Dwarf_Die& type) {
  const int tag = dwarf_tag(&type);
  if (tag != DW_TAG_class_type && tag != DW_TAG_structure_type) return false;
  const std::string name = text_attribute(type, DW_AT_name);
  return (name.empty() || name.starts_with("<lambda")) && member(type, call_operator).has_value();
}

// Is the object that a member function is called on const for it?
bool is_const_member(Dwarf_Die& function) {
  Dwarf_Die object;
  Dwarf_Die type;
  if (!follow(function, DW_AT_object_pointer, object) || !follow(object, DW_AT_type, type)) return false;
  if (dwarf_tag(&type) == DW_TAG_const_type && !follow(type, DW_AT_type, type)) return false;
  return follow(type, DW_AT_type, type) && dwarf_tag(&type) == DW_TAG_const_type;
}

}  // namespace

std::string DebugNames::of(Dwarf_Die& function) {
  const std::string linkage = linkage_name(function);
  if (!linkage.empty()) return demangle(linkage);

  // Functions that cannot be linked to have none.
  Dwarf_Die declared = function;
  while (follow(declared, DW_AT_abstract_origin, declared) || follow(declared, DW_AT_specification, declared)) {
  }
  read_scopes_(declared);
  std::string name = text_attribute(declared, DW_AT_name);
  if (name.empty()) name = "(unnamed)";
  name.insert(0, scopes_of(declared));
  // What can be linked to without a linkage name is of C.
  if (is_cxx(declared) && !has_flag(declared, DW_AT_external)) name += parameters_of(declared);
  return name;
}

// The path before the name of a function or type, ending in "::"; empty at the top.
std::string DebugNames::scopes_of(Dwarf_Die& die) {
  const auto known = scopes_.find(die.addr);
  if (known == scopes_.end()) return {};
  Dwarf_Die scope = known->second;
  const int tag = dwarf_tag(&scope);
  if (tag == DW_TAG_subprogram) return of(scope) + "::";
  if (tag == DW_TAG_lexical_block) return scopes_of(scope);
  return is_scope(tag) ? scopes_of(scope) + scope_name(scope) + "::" : std::string();
}

std::string DebugNames::scope_name(Dwarf_Die& scope) {
  if (dwarf_tag(&scope) != DW_TAG_namespace && is_lambda(scope)) return lambda(scope);
  const std::string name = text_attribute(scope, DW_AT_name);
  if (!name.empty()) return name;
  return dwarf_tag(&scope) == DW_TAG_namespace ? "(anonymous namespace)" : "{unnamed type}";
}

// "{lambda(int)#1}": numbered among the lambdas with these parameters in the same scope.
std::string DebugNames::lambda(Dwarf_Die& closure) {
  const auto parameters = [&](Dwarf_Die& type) {
    std::optional<Dwarf_Die> call = member(type, call_operator);
    const std::string text = parameters_of(*call);
    return text.substr(0, text.rfind(')') + 1);
  };
  const std::string own = parameters(closure);
  std::size_t number = 1;
  const auto scope = scopes_.find(closure.addr);
  if (scope != scopes_.end()) {
    Dwarf_Die parent = scope->second;
    bool is_before = true;
    for_each_child(parent, [&](Dwarf_Die& child) {
      if (child.addr == closure.addr) is_before = false;
      if (is_before && is_lambda(child) && parameters(child) == own) ++number;
    });
  }
  return fmt::format("{{lambda{}#{}}}", own, number);
}

std::string DebugNames::parameters_of(Dwarf_Die& function) {
  std::string list;
  const auto add = [&](const std::string& parameter) {
    if (!list.empty()) list += ", ";
    list += parameter;
  };
  for_each_child(function, [&](Dwarf_Die& child) {
    switch (dwarf_tag(&child)) {
      case DW_TAG_formal_parameter:
        if (!has_flag(child, DW_AT_artificial)) add(type_of(child));
        break;
      case DW_TAG_GNU_formal_parameter_pack: for_each_child(child, [&](Dwarf_Die& each) { add(type_of(each)); }); break;
      case DW_TAG_unspecified_parameters: add("..."); break;
      default: break;
    }
  });
  return "(" + list + ")" + (is_const_member(function) ? " const" : "");
}

// The type of a parameter: whether it can be changed in the function does not count.
std::string DebugNames::type_of(Dwarf_Die& die) {
  Dwarf_Die type;
  if (!follow(die, DW_AT_type, type)) return "void";
  while (dwarf_tag(&type) == DW_TAG_const_type || dwarf_tag(&type) == DW_TAG_volatile_type ||
         dwarf_tag(&type) == DW_TAG_restrict_type) {
    if (!follow(type, DW_AT_type, type)) return "void";
  }
  return type_name(type);
}

std::string DebugNames::type_name(Dwarf_Die& type) {
  Dwarf_Die target;
  const bool has_target = follow(type, DW_AT_type, target);
  const auto target_name = [&] { return has_target ? type_name(target) : std::string("void"); };
  switch (dwarf_tag(&type)) {
    case DW_TAG_pointer_type: return pointer_to(type, "*");
    case DW_TAG_reference_type: return pointer_to(type, "&");
    case DW_TAG_rvalue_reference_type: return pointer_to(type, "&&");
    case DW_TAG_const_type: return target_name() + " const";
    case DW_TAG_volatile_type: return target_name() + " volatile";
    case DW_TAG_typedef: {
      const bool is_named = has_target && (!is_scope(dwarf_tag(&target)) || dwarf_hasattr(&target, DW_AT_name));
      return is_named ? target_name() : text_attribute(type, DW_AT_name);
    }
    case DW_TAG_array_type: return target_name() + " []";
    case DW_TAG_subroutine_type: return target_name() + " " + parameters_of(type);
    case DW_TAG_base_type: return base_type_name(text_attribute(type, DW_AT_name));
    default:
      return scopes_of(type) + (is_scope(dwarf_tag(&type)) ? scope_name(type) : text_attribute(type, DW_AT_name));
  }
}

std::string DebugNames::pointer_to(Dwarf_Die& pointer, const char* mark) {
  Dwarf_Die target;
  if (!follow(pointer, DW_AT_type, target)) return std::string("void") + mark;
  if (dwarf_tag(&target) != DW_TAG_subroutine_type) return type_name(target) + mark;
  return type_of(target) + " (" + mark + ")" + parameters_of(target);
}

}  // namespace flamb
