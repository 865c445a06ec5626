#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "call_tree.h"
#include "program/debug_info.h"
#include "program/elf_image.h"
#include "program/imports.h"
#include "program/program.h"
#include "program/symbol_table.h"
#include "program/unwind_rules.h"

namespace flamb {

// What is known of one file, wherever it is loaded. Each part is read when it is first asked for.
class ModuleFile {
 public:
  explicit ModuleFile(std::unique_ptr<ElfImage> image) : image_(std::move(image)) {}

  const ElfImage& image() const { return *image_; }
  const SymbolTable& symbols();
  const Imports& imports();
  DebugInfo& debug_info();
  UnwindRules& unwind_rules();
  // By linkage name: the address in the file.
  const std::unordered_map<std::string_view, std::uint64_t>& exports();
  // Addresses in the file.
  const std::vector<std::uint64_t>& address_taken();

 private:
  std::unique_ptr<ElfImage> image_;
  std::optional<SymbolTable> symbols_;
  std::optional<Imports> imports_;
  std::optional<DebugInfo> debug_info_;
  std::optional<UnwindRules> unwind_rules_;
  std::optional<std::unordered_map<std::string_view, std::uint64_t>> exports_;
  std::optional<std::vector<std::uint64_t>> address_taken_;
};

// A file where it is loaded: its functions by load address. They stay where they are as long as this object does.
class LoadedModule {
 public:
  LoadedModule(std::shared_ptr<ModuleFile> file, Module module);

  ModuleFile& file() const { return *file_; }
  const std::shared_ptr<ModuleFile>& shared_file() const { return file_; }
  const Module& module() const { return module_; }
  const std::string& name() const { return name_; }  // of the file, without directories
  Address in_file(Address address) const { return address - module_.load_bias; }
  Address loaded(std::uint64_t address) const { return address + module_.load_bias; }

  // Its place in Program::modules(), which can change when libraries come and go.
  void set_index(std::size_t index);
  bool is_in_scope = false;

  const std::vector<Function>& functions();  // by address, starts are distinct
  const Function* function_at(Address address);
  const Function* function_starting_at(Address address);
  const Function* exported(std::string_view linkage_name);
  // The demangled name of one of a function's symbols.
  std::string name_of(const FunctionSymbol& symbol);

  FrameId frame(const Function& function, FrameTable& frames);
  const std::vector<InlinedRange>& inlined(const Function& function, FrameTable& frames);

 private:
  void read_functions();
  std::size_t index_of(const Function& function) const {
    return static_cast<std::size_t>(&function - functions_.data());
  }

  std::shared_ptr<ModuleFile> file_;
  Module module_;
  std::string name_;
  std::size_t index_ = 0;
  bool is_read_ = false;
  std::vector<Function> functions_;
  std::vector<std::uint32_t>
      enclosing_;  // by function: the nearest one before it that ends after it, or itself if none does
  std::vector<std::optional<FrameId>> frames_;                      // by function
  std::unordered_map<Address, std::vector<InlinedRange>> inlined_;  // by the function's start
};

}  // namespace flamb
