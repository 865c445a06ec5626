#include "function_search.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <unordered_set>

#include "edit_distance.h"
#include "name_scanner.h"

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

// How far a name is from what was typed; nothing if they have nothing to do with each other. Both in lower case.
std::optional<std::size_t> distance_of(std::string_view name, std::string_view typed) {
  const std::size_t most_typos = std::clamp<std::size_t>(typed.size() / 3, 1, 4);
  const std::size_t distance = edit_distance(typed, name, most_typos);
  if (distance <= most_typos) return distance;
  constexpr std::size_t shortest_part = 3;  // less is found in anything
  const bool is_part = typed.size() >= shortest_part && name.find(typed) != std::string_view::npos;
  if (is_part) return most_typos + name.size() - typed.size();
  return std::nullopt;
}

}  // namespace

std::vector<const Function*> find_functions(const Modules& modules, std::string_view typed) {
  if (const std::optional<Address> address = typed_address(typed)) return functions_at(modules, *address);
  const FunctionName typed_name = parse_function_name(typed);
  const std::string last = typed_name.components.empty() ? std::string() : typed_name.components.back().name;
  const std::string_view part = is_linkage_name(typed) ? typed : mangled_part(last);
  std::vector<const Function*> found;
  for_each_symbol(modules, [&](LoadedModule& module, const FunctionSymbol& symbol) {
    if (symbol.name.find(part) == std::string_view::npos) return;
    const bool is_match = symbol.name == typed ||
                          (!is_linkage_name(typed) && matches(typed_name, parse_function_name(module.name_of(symbol))));
    if (!is_match) return;
    const Function* function = &module.functions()[symbol.function];
    if (found.empty() || found.back() != function) found.push_back(function);
  });
  return found;
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
  const std::size_t count = typed_name.components.size();
  const std::string wanted = in_lower_case(typed_name.bare(count));
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& name : bare_names(modules, count)) {
    if (const auto distance = distance_of(in_lower_case(name), wanted)) near.emplace_back(*distance, name);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> suggestions;
  for (auto& [distance, name] : near) {
    if (suggestions.size() == limit) break;
    suggestions.push_back(std::move(name));
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
