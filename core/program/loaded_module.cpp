#include "program/loaded_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "program/address_taken.h"
#include "program/demangle.h"

namespace flamb {

const SymbolTable& ModuleFile::symbols() {
  if (!symbols_) symbols_.emplace(*image_);
  return *symbols_;
}

const Imports& ModuleFile::imports() {
  if (!imports_) imports_.emplace(*image_, symbols());
  return *imports_;
}

DebugInfo& ModuleFile::debug_info() {
  if (!debug_info_) debug_info_.emplace(*image_);
  return *debug_info_;
}

UnwindRules& ModuleFile::unwind_rules() {
  if (!unwind_rules_) unwind_rules_.emplace(*image_);
  return *unwind_rules_;
}

const std::unordered_map<std::string_view, std::uint64_t>& ModuleFile::exports() {
  if (!exports_) exports_ = exported_functions(*image_);
  return *exports_;
}

const std::vector<std::uint64_t>& ModuleFile::address_taken() {
  if (!address_taken_) address_taken_ = flamb::address_taken(*image_, symbols(), imports());
  return *address_taken_;
}

LoadedModule::LoadedModule(std::shared_ptr<ModuleFile> file, Module module)
    : file_(std::move(file)), module_(std::move(module)), name_(std::filesystem::path(module_.path).filename()) {}

void LoadedModule::set_index(std::size_t index) {
  index_ = index;
  for (Function& function : functions_) function.module = index;
}

const std::vector<Function>& LoadedModule::functions() {
  if (!is_read_) read_functions();
  return functions_;
}

void LoadedModule::read_functions() {
  is_read_ = true;
  const std::vector<CodeSymbol>& symbols = file_->symbols().functions();
  functions_.reserve(symbols.size());
  enclosing_.reserve(symbols.size());
  std::vector<std::uint32_t> open;  // functions that could hold the next one, outer first
  for (const CodeSymbol& symbol : symbols) {
    functions_.push_back(
        {.name = symbol.name.empty() ? fmt::format("{}+{:#x}", name_, symbol.start) : demangle(symbol.name),
         .linkage_name = std::string(symbol.name),
         .start = loaded(symbol.start),
         .end = loaded(symbol.end),
         .module = index_,
         .is_ifunc = symbol.is_ifunc,
         .is_cold_part = is_cold_part(symbol.name)});
    const Function& added = functions_.back();
    while (!open.empty() && functions_[open.back()].end <= added.end) open.pop_back();
    const auto own = static_cast<std::uint32_t>(functions_.size() - 1);
    enclosing_.push_back(open.empty() ? own : open.back());
    open.push_back(own);
  }
  frames_.resize(functions_.size());
}

const Function* LoadedModule::function_at(Address address) {
  const std::vector<Function>& all = functions();
  const auto after = std::upper_bound(all.begin(), all.end(), address,
                                      [](Address value, const Function& function) { return value < function.start; });
  if (after == all.begin()) return nullptr;
  auto index = static_cast<std::size_t>(after - all.begin()) - 1;
  while (address >= all[index].end) {
    if (enclosing_[index] == index) return nullptr;
    index = enclosing_[index];
  }
  return &all[index];
}

const Function* LoadedModule::function_starting_at(Address address) {
  const Function* function = function_at(address);
  return function != nullptr && function->start == address ? function : nullptr;
}

const Function* LoadedModule::exported(std::string_view linkage_name) {
  const auto found = file_->exports().find(linkage_name);
  return found != file_->exports().end() ? function_starting_at(loaded(found->second)) : nullptr;
}

std::string LoadedModule::name_of(const FunctionSymbol& symbol) {
  const Function& function = functions()[symbol.function];
  return function.linkage_name == symbol.name ? function.name : demangle(symbol.name);
}

FrameId LoadedModule::frame(const Function& function, FrameTable& frames) {
  std::optional<FrameId>& known = frames_[index_of(function)];
  if (!known) {
    const DebugInfo::Declaration declaration = file_->debug_info().declaration(in_file(function.start));
    known = frames.intern({function.name, name_, declaration.file, declaration.line, false});
  }
  return *known;
}

const std::vector<InlinedRange>& LoadedModule::inlined(const Function& function, FrameTable& frames) {
  const auto [known, is_new] = inlined_.try_emplace(function.start);
  if (is_new) {
    for (const DebugInfo::InlinedCode& code : file_->debug_info().inlined(in_file(function.start))) {
      known->second.push_back({loaded(code.start), loaded(code.end), code.depth, frames.intern(*code.callee)});
    }
  }
  return known->second;
}

}  // namespace flamb
