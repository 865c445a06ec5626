#include "tracepoints/traced_functions.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <unordered_set>

namespace flamb {
namespace {

constexpr Address shortest = 5;  // of a function that needs nothing of what follows it
constexpr Address padding = 16;  // behind it, at most; and the size of a PLT entry

// They return twice, or look at their return address.
bool needs_its_caller(std::string_view linkage_name) {
  static constexpr auto names = std::to_array<std::string_view>(
      {"_setjmp", "setjmp", "sigsetjmp", "__sigsetjmp", "__setjmp", "vfork", "__vfork", "getcontext", "swapcontext",
       "dlopen", "dlmopen", "dlsym", "dlvsym", "dlinfo", "dladdr", "__cyg_profile_func_enter",
       "__cyg_profile_func_exit", "mcount", "__fentry__"});
  return std::ranges::find(names, linkage_name) != names.end();
}

// What only the toolchain's own code calls, when a module comes and goes.
bool is_startup(std::string_view linkage_name) {
  return linkage_name == "__cxa_finalize" || linkage_name == "__libc_start_main";
}

class Choice {
 public:
  Choice(Invocations& invocations, const TargetMemory& memory) : invocations_(invocations), memory_(memory) {}

  TracedFunctions make(const std::vector<Address>& triggers) {
    for (const Address trigger : triggers) add_trigger(trigger);
    chosen_.triggers = chosen_.list.size();
    std::vector<std::size_t> in_scope;
    for (std::size_t module = 0; module < program().modules().size(); ++module) {
      if (program().in_scope(module) && !is_loader(program().modules()[module].path)) in_scope.push_back(module);
    }
    for (const std::size_t module : in_scope) add_functions(module);
    for (const std::size_t module : in_scope) add_entries(module);
    chosen_.borders = chosen_.list.size();
    for (const std::size_t module : in_scope) add_slots(module);
    return std::move(chosen_);
  }

 private:
  Program& program() { return invocations_.program; }

  static bool is_loader(const std::string& path) {
    return std::filesystem::path(path).filename().string().starts_with("ld-linux");
  }

  void add_functions(std::size_t module) {
    Address end = 0;
    const std::vector<const Function*> functions = program().functions(module);
    for (const Function* function : functions) {
      end = std::max(end, function->end);
      const Callee callee = invocations_.callee(function->start);
      if (callee.function != nullptr && !callee.function->is_cold_part) add(*callee.function, callee.frame);
    }
    if (!functions.empty()) chosen_.scope.push_back({functions.front()->start, end});
  }

  // In scope or not.
  void add_trigger(Address entry) {
    if (const Function* function = program().function_at(entry)) add(*function, program().frame(*function));
  }

  void add(const Function& function, FrameId frame) {
    if (!seen_.insert(function.start).second) return;
    const std::size_t size = function.end - function.start;
    chosen_.list.push_back({function.start, size, size < shortest ? end_of_padding(function.end) : function.end, frame,
                            function.name, needs_its_caller(function.linkage_name)});
  }

  // Up to the next function.
  Address end_of_padding(Address from) {
    Address end = from;
    while (end < from + padding && program().function_at(end) == nullptr) ++end;
    return end;
  }

  // Calls of other modules' functions go through the PLT, for the most part.
  void add_entries(std::size_t module) {
    for (const Import& import : program().imports(module)) {
      if (!import.is_entry || import.is_binder || is_startup(import.name)) continue;
      called_by_entry_.insert(import.name);
      const Callee callee = invocations_.callee(import.address);
      if (callee.function != nullptr || callee.resolver != nullptr || !seen_.insert(import.address).second) continue;
      chosen_.list.push_back({import.address, padding, import.address + padding, callee.frame, std::string(import.name),
                              needs_its_caller(import.name)});
    }
  }

  // Those that are called through a slot of the GOT, or by a pointer: what the slot holds is known by now.
  void add_slots(std::size_t module) {
    for (const Import& import : program().imports(module)) {
      if (import.is_entry || is_startup(import.name) || called_by_entry_.contains(import.name)) continue;
      const auto entry = memory_.read<Address>(import.address);
      if (!entry || program().in_scope_at(*entry) || seen_.contains(*entry)) continue;
      const Function* function = program().function_at(*entry);
      if (function == nullptr || function->start != *entry || is_loader(program().modules()[function->module].path)) {
        continue;
      }
      seen_.insert(*entry);
      chosen_.list.push_back({*entry, function->end - *entry, function->end, program().import_frame(import.name),
                              std::string(import.name), needs_its_caller(import.name)});
    }
  }

  Invocations& invocations_;
  const TargetMemory& memory_;
  TracedFunctions chosen_;
  std::unordered_set<Address> seen_;
  std::unordered_set<std::string_view> called_by_entry_;
};

}  // namespace

TracedFunctions choose_functions(Invocations& invocations, const std::vector<Address>& triggers,
                                 const TargetMemory& memory) {
  return Choice(invocations, memory).make(triggers);
}

}  // namespace flamb
