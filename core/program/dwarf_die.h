#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <string>

// Small questions to a DIE, the node of the debug information.
namespace flamb {

// Calls visit(child) for each child of a DIE.
template <class Visit>
void for_each_child(Dwarf_Die& parent, Visit visit) {
  Dwarf_Die child;
  if (dwarf_child(&parent, &child) != 0) return;
  do {
    visit(child);
  } while (dwarf_siblingof(&child, &child) == 0);
}

// An attribute of the DIE or of those it completes; empty where there is none.
inline std::string text_attribute(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  const char* text = dwarf_formstring(dwarf_attr_integrate(&die, name, &attribute));
  return text != nullptr ? text : "";
}

inline bool has_flag(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  bool is_set = false;
  return dwarf_formflag(dwarf_attr_integrate(&die, name, &attribute), &is_set) == 0 && is_set;
}

// What the attribute of the DIE refers to.
inline bool follow(Dwarf_Die& die, unsigned name, Dwarf_Die& target) {
  Dwarf_Attribute attribute;
  return dwarf_formref_die(dwarf_attr(&die, name, &attribute), &target) != nullptr;
}

// Where names can be declared in.
inline bool is_scope(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:  // Rust's hold functions
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block: return true;
    default: return false;
  }
}

}  // namespace flamb
