#include "program/function_search.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <unordered_set>

#include "edit_distance.h"
#include "program/name_scanner.h"

namespace flamb {
namespace {

std::optional<Address> typed_address(std::string_view typed) {
  if (!typed.starts_with("0x") && !typed.starts_with("0X")) return std::nullopt;
  Address address = 0;
  const char* end = typed.data() + typed.size();
  const auto [stop, error] = std::from_chars(typed.data() + 2, end, address, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return address;
}

bool is_linkage_name(std::string_view typed) { return typed.starts_with("_Z") || typed.starts_with("_R"); }

// What a symbol whose demangled name ends in `component` (or begins so, for completion) must contain: to demangle and
// parse every symbol of a large program would be slow. Empty if nothing can be said: operators, and names the standard
// library has abbreviations for.
std::string_view mangled_part(std::string_view component) {
  static constexpr std::array<std::string_view, 9> abbreviated = {"allocator",     "basic_string",  "string",
                                                                  "basic_istream", "basic_ostream", "basic_iostream",
                                                                  "istream",       "ostream",       "iostream"};
  if (component.starts_with('~')) component.remove_prefix(1);
  const bool is_plain = std::all_of(component.begin(), component.end(), [](char c) {
    return is_identifier_character(c) && static_cast<unsigned char>(c) < 0x80 && c != '$';
  });
  if (!is_plain || component.starts_with("operator")) return {};
  const bool is_abbreviated = std::any_of(abbreviated.begin(), abbreviated.end(),
                                          [&](std::string_view name) { return name.starts_with(component); });
  return is_abbreviated ? std::string_view() : component;
}

// Calls visit(module, symbol) for each symbol of these modules that is a function's name. Cold parts are no functions
// that can be entered.
template <class Visit>
void for_each_symbol(const Modules& modules, Visit visit) {
  for (LoadedModule* module : modules) {
    for (const FunctionSymbol& symbol : module->file().symbols().symbols()) {
      if (!is_cold_part(symbol.name)) visit(*module, symbol);
    }
  }
}

// The functions with a symbol that contains `part` and is accepted.
template <class Accept>
std::vector<const Function*> functions_where(const Modules& modules, std::string_view part, Accept accept) {
  std::vector<const Function*> found;
  for_each_symbol(modules, [&](LoadedModule& module, const FunctionSymbol& symbol) {
    if (symbol.name.find(part) == std::string_view::npos || !accept(module, symbol)) return;
    const Function* function = &module.functions()[symbol.function];
    if (found.empty() || found.back() != function) found.push_back(function);
  });
  return found;
}

std::vector<const Function*> functions_at(const Modules& modules, Address address) {
  for (LoadedModule* module : modules) {
    if (const Function* function = module->function_starting_at(address)) return {function};
  }
  return {};
}

// Every distinct name that the last `count` components of functions' names make.
std::unordered_set<std::string> bare_names(const Modules& modules, std::size_t count) {
  std::unordered_set<std::string> names;
  for_each_symbol(modules, [&](LoadedModule& module, const FunctionSymbol& symbol) {
    const FunctionName name = parse_function_name(module.name_of(symbol));
    if (!name.components.empty()) names.insert(name.bare(count));
  });
  return names;
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// The whole names of functions that differ from what was typed in their parameters or template arguments only.
std::vector<std::string> names_of_others(const Modules& modules, const FunctionName& typed, std::size_t limit) {
  std::vector<std::string> names;
  for (const Function* function : find_functions(modules, typed.bare(typed.components.size()))) {
    const bool is_new = std::find(names.begin(), names.end(), function->name) == names.end();
    if (is_new && names.size() < limit) names.push_back(function->name);
  }
  return names;
}

// The names of functions whose paths have more steps between those typed: inline namespaces mostly, whose names change
// with the version of a library.
std::vector<std::string> names_with_more_steps(const Modules& modules, const FunctionName& typed, std::size_t limit) {
  std::set<std::string> names;
  for (const Function* function : find_functions(modules, typed.bare(1))) {
    const FunctionName name = parse_function_name(function->name);
    auto wanted = typed.components.begin();
    for (const NameComponent& step : name.components) {
      if (wanted != typed.components.end() && wanted->name == step.name) ++wanted;
    }
    if (wanted == typed.components.end() && names.size() < limit) names.insert(name.bare(name.components.size()));
  }
  return {names.begin(), names.end()};
}

// Names by how many typing mistakes away they are, or, if there are none so near, by how much longer than what was
// typed.
std::vector<std::pair<std::size_t, std::string>> near_names(const std::unordered_set<std::string>& names,
                                                            std::string_view typed) {
  constexpr std::size_t shortest_part = 3;  // less is found in anything
  const std::size_t most_mistakes = std::clamp<std::size_t>(typed.size() / 3, 1, 4);
  std::vector<std::pair<std::size_t, std::string>> mistyped;
  std::vector<std::pair<std::size_t, std::string>> longer;
  for (const std::string& name : names) {
    const std::string lower = in_lower_case(name);
    const std::size_t mistakes = edit_distance(typed, lower, most_mistakes);
    if (mistakes <= most_mistakes) {
      mistyped.emplace_back(mistakes, name);
    } else if (typed.size() >= shortest_part && lower.find(typed) != std::string::npos) {
      longer.emplace_back(name.size() - typed.size(), name);
    }
  }
  std::vector<std::pair<std::size_t, std::string>>& best = mistyped.empty() ? longer : mistyped;
  std::sort(best.begin(), best.end());
  // Who made one mistake did not mean what is three away.
  const auto is_far = [&](const auto& each) { return &best == &mistyped && each.first > best.front().first + 1; };
  best.erase(std::find_if(best.begin(), best.end(), is_far), best.end());
  return std::move(best);
}

}  // namespace

std::vector<const Function*> find_functions(const Modules& modules, std::string_view typed) {
  if (const std::optional<Address> address = typed_address(typed)) return functions_at(modules, *address);
  if (is_linkage_name(typed)) {
    return functions_where(modules, typed,
                           [&](LoadedModule&, const FunctionSymbol& each) { return each.name == typed; });
  }
  const FunctionName typed_name = parse_function_name(typed);
  if (typed_name.components.empty()) return {};
  return functions_where(modules, mangled_part(typed_name.components.back().name),
                         [&](LoadedModule& module, const FunctionSymbol& each) {
                           return each.name == typed || matches(typed_name, parse_function_name(module.name_of(each)));
                         });
}

std::vector<std::string> find_inlined(const Modules& modules, std::string_view typed, std::size_t limit) {
  const FunctionName typed_name = parse_function_name(typed);
  std::vector<std::string> places;
  if (typed_name.components.empty() || typed_address(typed)) return places;
  const auto accept = [&](const std::string& name) { return matches(typed_name, parse_function_name(name)); };
  for (LoadedModule* module : modules) {
    const std::vector<std::string> more =
        module->file().debug_info().inlined_calls(typed_name.components.back().name, accept, limit - places.size());
    places.insert(places.end(), more.begin(), more.end());
  }
  return places;
}

std::vector<std::string> suggest_names(const Modules& modules, std::string_view typed, std::size_t limit) {
  const FunctionName typed_name = parse_function_name(typed);
  if (typed_name.components.empty() || typed_address(typed)) return {};
  std::vector<std::string> suggestions = names_of_others(modules, typed_name, limit);
  if (suggestions.empty()) suggestions = names_with_more_steps(modules, typed_name, limit);
  if (!suggestions.empty()) return suggestions;
  const std::size_t count = typed_name.components.size();
  for (const auto& [distance, name] : near_names(bare_names(modules, count), in_lower_case(typed_name.bare(count)))) {
    if (suggestions.size() < limit) suggestions.push_back(name);
  }
  return suggestions;
}

std::vector<std::string> complete_name(const Modules& modules, std::string_view typed, std::size_t limit) {
  const std::size_t last_path = typed.rfind("::");
  const std::size_t count = parse_function_name(std::string(typed) + "x").components.size();
  const std::string_view part = mangled_part(last_path == std::string_view::npos ? typed : typed.substr(last_path + 2));
  std::set<std::string> names;
  for_each_symbol(modules, [&](LoadedModule& module, const FunctionSymbol& symbol) {
    if (symbol.name.find(part) == std::string_view::npos) return;
    const std::string name = parse_function_name(module.name_of(symbol)).bare(count);
    if (name.starts_with(typed) && !name.empty()) names.insert(name);
    if (names.size() > limit) names.erase(std::prev(names.end()));
  });
  return {names.begin(), names.end()};
}

}  // namespace flamb
