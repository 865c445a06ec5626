#include "program/program.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <unordered_map>

#include "program/demangle.h"
#include "program/function_search.h"
#include "program/loaded_module.h"
#include "tracepoints/own_libraries.h"

namespace flamb {
namespace {

constexpr std::size_t most_inlined_places = 10;
constexpr std::size_t most_suggestions = 5;

bool is_below(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) && path.size() > directory.size() && path[directory.size()] == '/';
}

bool is_systems(const std::string& path) {
  static constexpr std::array<std::string_view, 10> directories = {
      "/lib",       "/lib32",     "/lib64",      "/libx32",      "/usr/lib",
      "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/libexec", "/usr/lib/debug"};
  return std::any_of(directories.begin(), directories.end(),
                     [&](std::string_view each) { return is_below(path, each); });
}

bool matches_glob(const std::string& path, const std::string& glob) {
  const std::string name = std::filesystem::path(path).filename();
  return fnmatch(glob.c_str(), path.c_str(), 0) == 0 || fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

}  // namespace

struct Program::State {
  struct Mapped {
    Address start = 0;
    Address end = 0;
    std::size_t module = 0;
  };

  State(Debugger& host, std::vector<std::string> chosen, FrameTable& table)
      : debugger(host), globs(std::move(chosen)), unmatched(globs.begin(), globs.end()), frames(table) {}

  std::shared_ptr<LoadedModule> keep_or_load(const Module& module, std::vector<std::string>& unreadable) const;
  bool chosen(const Module& module, const std::string& loaded_as);
  void list_segments();
  std::optional<std::size_t> index_at(Address address) const;
  LoadedModule* module_at(Address address) const;
  void sort_by_scope();
  void warn_once(const std::vector<std::string>& unreadable);

  Debugger& debugger;
  std::vector<std::string> globs;
  std::set<std::string> unmatched;  // globs that no module has matched so far
  std::set<std::string> taken;      // paths of modules taken into scope
  FrameTable& frames;
  std::vector<Module> listed;
  std::vector<std::shared_ptr<LoadedModule>> modules;  // as `listed`
  std::vector<Mapped> segments;                        // by start
  Modules own;                                         // those in scope, the program first
  Modules foreign;                                     // all others
  std::optional<std::vector<const Function*>> address_taken;
  std::set<std::string> warned;
};

Program::Program(Debugger& debugger, std::vector<std::string> globs, FrameTable& frames)
    : state_(std::make_unique<State>(debugger, std::move(globs), frames)) {}

Program::~Program() = default;

Result<void> Program::refresh() {
  Result<std::vector<Module>> listed = state_->debugger.modules();
  if (!listed) return tl::unexpected(std::move(listed.error()));
  std::vector<std::shared_ptr<LoadedModule>> loaded;
  std::vector<Module> readable;
  std::vector<std::string> unreadable;
  for (Module& module : *listed) {
    // One debugger gives a link's name, the other that of the file: the frames' names must not depend on it.
    std::error_code not_there;
    const auto file = std::filesystem::canonical(module.path, not_there);
    const std::string loaded_as = module.path;
    if (!not_there) module.path = file.string();
    std::shared_ptr<LoadedModule> known = state_->keep_or_load(module, unreadable);
    if (!known) continue;
    known->set_index(loaded.size());
    known->is_in_scope = state_->chosen(module, loaded_as);
    loaded.push_back(std::move(known));
    readable.push_back(std::move(module));
  }
  state_->modules = std::move(loaded);
  state_->listed = std::move(readable);
  state_->list_segments();
  state_->sort_by_scope();
  state_->address_taken.reset();
  state_->warn_once(unreadable);
  return {};
}

std::shared_ptr<LoadedModule> Program::State::keep_or_load(const Module& module,
                                                           std::vector<std::string>& unreadable) const {
  std::shared_ptr<ModuleFile> file;
  for (const std::shared_ptr<LoadedModule>& known : modules) {
    if (known->module().path != module.path || !known->file().image().is_current()) continue;
    if (known->module().load_bias == module.load_bias) return known;
    file = known->shared_file();
  }
  if (!file) {
    Result<std::unique_ptr<ElfImage>> image = ElfImage::open(module.path);
    if (!image) {
      unreadable.push_back(image.error().message);
      return nullptr;
    }
    file = std::make_shared<ModuleFile>(std::move(*image));
  }
  return std::make_shared<LoadedModule>(std::move(file), module);
}

void Program::take_into_scope(Address address) {
  LoadedModule* module = state_->module_at(address);
  if (module == nullptr || module->is_in_scope || !state_->globs.empty()) return;
  state_->taken.insert(module->module().path);
  module->is_in_scope = true;
  state_->sort_by_scope();
  state_->address_taken.reset();
}

bool Program::State::chosen(const Module& module, const std::string& loaded_as) {
  if (is_own_library(module.path)) return false;
  if (globs.empty()) return module.is_program || !is_systems(module.path) || taken.contains(module.path);
  bool is_chosen = false;
  for (const std::string& glob : globs) {
    if (!matches_glob(loaded_as, glob) && !matches_glob(module.path, glob)) continue;
    unmatched.erase(glob);
    is_chosen = true;
  }
  return is_chosen;
}

void Program::State::list_segments() {
  segments.clear();
  for (std::size_t index = 0; index < modules.size(); ++index) {
    for (const ElfImage::Segment& segment : modules[index]->file().image().segments()) {
      segments.push_back({modules[index]->loaded(segment.start), modules[index]->loaded(segment.end), index});
    }
  }
  std::sort(segments.begin(), segments.end(), [](const Mapped& a, const Mapped& b) { return a.start < b.start; });
}

std::optional<std::size_t> Program::State::index_at(Address address) const {
  const auto after = std::upper_bound(segments.begin(), segments.end(), address,
                                      [](Address value, const Mapped& segment) { return value < segment.start; });
  if (after == segments.begin() || address >= std::prev(after)->end) return std::nullopt;
  return std::prev(after)->module;
}

LoadedModule* Program::State::module_at(Address address) const {
  const std::optional<std::size_t> index = index_at(address);
  return index ? modules[*index].get() : nullptr;
}

void Program::State::sort_by_scope() {
  own.clear();
  foreign.clear();
  for (const std::shared_ptr<LoadedModule>& module : modules)
    (module->is_in_scope ? own : foreign).push_back(module.get());
  // The debugger need not list the program first.
  std::stable_partition(own.begin(), own.end(), [](LoadedModule* module) { return module->module().is_program; });
}

void Program::State::warn_once(const std::vector<std::string>& unreadable) {
  std::vector<std::string> fresh;
  for (const std::string& message : unreadable) {
    if (warned.insert(message).second) fresh.push_back(message);
  }
  if (fresh.empty()) return;
  const std::string others = fresh.size() > 1 ? fmt::format(" (and {} more files)", fresh.size() - 1) : "";
  debugger.print(fmt::format("warning: {}{}; their functions get no frames\n", fresh.front(), others));
}

std::vector<std::string> Program::unmatched_globs() const {
  return {state_->unmatched.begin(), state_->unmatched.end()};
}

const std::vector<Module>& Program::modules() const { return state_->listed; }

bool Program::in_scope(std::size_t module) const { return state_->modules[module]->is_in_scope; }

bool Program::in_scope_at(Address address) const {
  const LoadedModule* module = state_->module_at(address);
  return module != nullptr && module->is_in_scope;
}

const Function* Program::function_at(Address address) const {
  LoadedModule* module = state_->module_at(address);
  return module != nullptr ? module->function_at(address) : nullptr;
}

std::optional<std::size_t> Program::module_at(Address address) const { return state_->index_at(address); }

std::vector<Import> Program::imports(std::size_t module) const {
  LoadedModule& loaded = *state_->modules[module];
  std::vector<Import> all;
  for (const Imports::Place& place : loaded.file().imports().places()) {
    all.push_back({loaded.loaded(place.address), place.name, place.is_entry, place.is_binder});
  }
  return all;
}

std::span<const std::byte> Program::file_bytes(Address from, std::size_t size) const {
  const LoadedModule* module = state_->module_at(from);
  if (module == nullptr) return {};
  const ElfImage::Section* section = module->file().image().section_at(module->in_file(from));
  if (section == nullptr) return {};
  const std::size_t offset = module->in_file(from) - section->header.sh_addr;
  if (offset >= section->bytes.size()) return {};
  return section->bytes.subspan(offset, std::min(size, section->bytes.size() - offset));
}

std::vector<const Function*> Program::functions(std::size_t module) const {
  std::vector<const Function*> all;
  for (const Function& function : state_->modules[module]->functions()) all.push_back(&function);
  return all;
}

std::string_view Program::imported_at(Address address) const {
  LoadedModule* module = state_->module_at(address);
  return module != nullptr ? module->file().imports().at(module->in_file(address)) : std::string_view();
}

// What the dynamic loader would bind to comes first, then what can be seen within one module only.
const Function* Program::definition(std::string_view linkage_name) const {
  for (LoadedModule* module : state_->own) {
    if (const Function* function = module->exported(linkage_name)) return function;
  }
  for (const Binding worst : {Binding::weak, Binding::local}) {
    for (LoadedModule* module : state_->own) {
      const FunctionSymbol* symbol = module->file().symbols().symbol(linkage_name);
      if (symbol != nullptr && symbol->binding <= worst) return &module->functions()[symbol->function];
    }
  }
  return nullptr;
}

const Function* Program::exported(std::string_view linkage_name) const {
  for (const Modules* modules : {&state_->own, &state_->foreign}) {
    for (LoadedModule* module : *modules) {
      if (const Function* function = module->exported(linkage_name)) return function;
    }
  }
  return nullptr;
}

std::vector<const Function*> Program::address_taken() const {
  if (state_->address_taken) return *state_->address_taken;
  std::set<std::pair<Address, const Function*>> taken;
  const auto add = [&](const Function* function) {
    if (function != nullptr && !function->is_ifunc && !function->is_cold_part) taken.emplace(function->start, function);
  };
  for (LoadedModule* module : state_->own) {
    for (const std::uint64_t address : module->file().address_taken()) {
      add(module->function_starting_at(module->loaded(address)));
    }
    for (const std::string_view name : module->file().imports().referenced_names()) add(definition(name));
  }
  std::vector<const Function*>& functions = state_->address_taken.emplace();
  for (const auto& [address, function] : taken) functions.push_back(function);
  return functions;
}

FunctionMatches Program::find(std::string_view typed) const {
  FunctionMatches matches;
  const Modules& own = state_->own;
  matches.functions = find_functions(own, typed);
  if (matches.functions.empty()) matches.functions = find_functions(state_->foreign, typed);
  if (!matches.functions.empty()) return matches;
  matches.inlined_at = find_inlined(own, typed, most_inlined_places);
  if (matches.inlined_at.empty()) matches.suggestions = suggest_names(own, typed, most_suggestions);
  return matches;
}

std::vector<std::string> Program::complete(std::string_view typed, std::size_t limit) const {
  return complete_name(state_->own, typed, limit);
}

FrameId Program::frame(const Function& function) {
  return state_->modules[function.module]->frame(function, state_->frames);
}

FrameId Program::import_frame(std::string_view linkage_name) {
  std::string module;
  for (const Modules* modules : {&state_->own, &state_->foreign}) {
    for (LoadedModule* each : *modules) {
      if (module.empty() && each->file().exports().contains(linkage_name)) module = each->name();
    }
  }
  return state_->frames.intern({demangle(linkage_name), module, "", 0, false});
}

FrameId Program::unknown_frame(Address address) {
  const LoadedModule* module = state_->module_at(address);
  if (module == nullptr) return state_->frames.intern({fmt::format("[jit] {:#x}", address), "", "", 0, false});
  const std::string name = fmt::format("{}+{:#x}", module->name(), module->in_file(address));
  return state_->frames.intern({name, module->name(), "", 0, false});
}

const std::vector<InlinedRange>& Program::inlined(const Function& function) {
  return state_->modules[function.module]->inlined(function, state_->frames);
}

std::optional<Address> Program::frame_slot(Address return_address, Address stack, Address frame_pointer) const {
  // The call is the last instruction before; what follows it can belong to another function, or to another rule.
  const Address call = return_address - 1;
  LoadedModule* module = state_->module_at(call);
  if (module == nullptr) return std::nullopt;
  const std::optional<UnwindRules::Rule> rule = module->file().unwind_rules().at(module->in_file(call));
  if (!rule) return std::nullopt;
  const Address base = rule->base == UnwindRules::Rule::Base::stack_pointer ? stack : frame_pointer;
  constexpr Address slot_size = sizeof(Address);
  return base + static_cast<Address>(rule->offset) - slot_size;
}

}  // namespace flamb
