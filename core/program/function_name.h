#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The parts of a function's name as demanglers and users write it, and whether one stands for another.
namespace flamb {

// One step of a path: `Parser<int>` and `parse(char const*) const` of `Parser<int>::parse(char const*) const`. Texts
// are normalised: spaces only where they part words, `const` after what it qualifies, the standard library's default
// arguments left out.
struct NameComponent {
  std::string name;                       // "parse", "operator<", "~Parser", "{lambda(int)#1}", "(anonymous namespace)"
  std::string trait;                      // Rust, `<T as Trait>`: "Trait", where `name` is "T"
  std::optional<std::string> arguments;   // what is between < and >
  std::optional<std::string> parameters;  // what is between ( and )
  std::string qualifiers;                 // "const", "const&"
};

struct FunctionName {
  bool is_absolute = false;               // began with "::"
  std::vector<NameComponent> components;  // empty for what is no function of its own (thunks)

  // The last `count` components, without arguments and parameters: "Parser::parse".
  std::string bare(std::size_t count) const;
};

FunctionName parse_function_name(std::string_view text);

// Does what was typed stand for this function? Namespaces and classes can be left out from the front, arguments,
// parameters and qualifiers anywhere; so can anonymous and the standard library's inline namespaces. A function whose
// parameters are not known (of C) matches any.
bool matches(const FunctionName& typed, const FunctionName& function);

// The name without what compilers add to copies: "parse.constprop.0" and "parse(int) [clone .part.1]" are "parse" and
// "parse(int)".
std::string_view without_clone_suffix(std::string_view name);

// Types, or template arguments, in the form in which NameComponent holds them.
std::string normalise_types(std::string_view types);
std::string normalise_arguments(std::string_view arguments);

}  // namespace flamb
