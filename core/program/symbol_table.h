#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "program/elf_image.h"

namespace flamb {

enum class Binding : std::uint8_t { global, weak, local };  // the better, the earlier

// A name of a function in the symbol table; a function can have many.
struct FunctionSymbol {
  std::string_view name;       // linkage name, without a version
  std::uint32_t function = 0;  // index into SymbolTable::functions()
  Binding binding = Binding::local;
};

// A stretch of code that a symbol or the unwind information bounds. Addresses are those in the file.
struct CodeSymbol {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::string_view name;  // the best of its symbols' linkage names; empty where it has none
  bool is_ifunc = false;
};

// The functions of an image and all their names, from .symtab (a separate debug file's too), .dynsym and .eh_frame.
class SymbolTable {
 public:
  explicit SymbolTable(const ElfImage& image);

  const std::vector<CodeSymbol>& functions() const { return functions_; }  // by address, starts are distinct
  const std::vector<FunctionSymbol>& symbols() const { return symbols_; }  // by function, best name first

  // The best symbol of that linkage name (global before weak before local), null if there is none.
  const FunctionSymbol* symbol(std::string_view linkage_name) const;
  // The function that begins at the address, null if none does.
  const CodeSymbol* starting_at(std::uint64_t address) const;

 private:
  std::vector<CodeSymbol> functions_;
  std::vector<FunctionSymbol> symbols_;
  mutable std::unordered_map<std::string_view, std::uint32_t> by_name_;  // into symbols_; filled at first use
};

// The functions an image offers to others: address in the file by linkage name.
std::unordered_map<std::string_view, std::uint64_t> exported_functions(const ElfImage& image);

// NAME.cold, NAME.cold.1: the part of a function that the compiler moved away.
bool is_cold_part(std::string_view linkage_name);

}  // namespace flamb
