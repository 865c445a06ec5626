#include "program/function_name.h"

#include <algorithm>
#include <array>

#include "program/name_scanner.h"

namespace flamb {
namespace {

constexpr std::string_view anonymous_namespace = "(anonymous namespace)";

class Parser {
 public:
  explicit Parser(std::string_view text, int depth = 0) : text_(without_clone_suffix(text)), depth_(depth) {}

  FunctionName parse() {
    skip_spaces();
    name_.is_absolute = take("::");
    while (at_ < text_.size()) {
      const std::size_t before = at_;
      parse_component();
      if (take("::")) continue;
      skip_spaces();
      if (at_ >= text_.size()) break;
      // A return type came first: the name begins here.
      name_ = {};
      while (at_ < text_.size() && (text_[at_] == '*' || text_[at_] == '&' || text_[at_] == ' ')) ++at_;
      if (at_ == before) ++at_;
      name_.is_absolute = take("::");
    }
    return name_;
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }
  bool is_at(char c) const { return at_ < text_.size() && text_[at_] == c; }

  bool take(std::string_view token) {
    if (!rest().starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  void skip_spaces() {
    while (is_at(' ')) ++at_;
  }

  std::string_view take_group() {
    const std::size_t from = at_;
    at_ = end_of_group(text_, at_);
    return text_.substr(from, at_ - from);
  }

  // What is between the brackets of the group that begins here.
  std::string_view take_inside() {
    const std::string_view group = take_group();
    const bool is_closed = group.size() > 1 && std::string_view(")]}>").find(group.back()) != std::string_view::npos;
    return group.substr(1, group.size() - (is_closed ? 2 : 1));
  }

  void parse_component() {
    if (is_operator_at(text_, at_)) {
      parse_operator();
    } else if (is_at('<') && !rest().starts_with("<lambda") && !rest().starts_with("<impl ")) {
      parse_angles();
      return;
    } else if (is_at('<') || is_at('{') || rest().starts_with(anonymous_namespace)) {
      add(normalise_types(take_group()));
    } else {
      parse_identifier();
    }
    parse_what_follows();
  }

  void add(std::string name) { name_.components.emplace_back().name = std::move(name); }

  void parse_identifier() {
    const std::size_t from = at_;
    while (at_ < text_.size() && std::string_view("<([{ *&").find(text_[at_]) == std::string_view::npos &&
           !rest().starts_with("::")) {
      ++at_;
    }
    add(std::string(text_.substr(from, at_ - from)));
  }

  // Rust: `<T as Trait>::method` and `<T>::method` at the front, `function::<T>` after a path.
  void parse_angles() {
    const std::string_view inside = take_inside();
    if (!name_.components.empty()) {
      name_.components.back().arguments = normalise_arguments(inside);
      return;
    }
    constexpr int deepest = 16;
    if (depth_ == deepest) return add(std::string(inside));
    const std::size_t as = find_outside_groups(inside, " as ");
    name_.components = Parser(inside.substr(0, as), depth_ + 1).parse().components;
    if (name_.components.empty()) add(std::string(inside));
    if (as != std::string_view::npos) {
      const FunctionName trait = Parser(inside.substr(as + 4), depth_ + 1).parse();
      if (!trait.components.empty()) name_.components.back().trait = trait.components.back().name;
    }
  }

  static std::size_t find_outside_groups(std::string_view text, std::string_view token) {
    for (std::size_t at = 0; at < text.size();) {
      if (text.substr(at).starts_with(token)) return at;
      at = std::string_view("<([{").find(text[at]) != std::string_view::npos ? end_of_group(text, at) : at + 1;
    }
    return std::string_view::npos;
  }

  void parse_operator() {
    take("operator");
    const std::size_t after_word = at_;
    skip_spaces();
    for (const std::string_view word : {"new[]", "new", "delete[]", "delete", "co_await"}) {
      const bool is_whole = rest().size() == word.size() ||
                            (rest().size() > word.size() && !is_identifier_character(rest()[word.size()]));
      if (is_whole && take(word)) return add("operator " + std::string(word));
    }
    if (take("\"\"")) {
      skip_spaces();
      parse_identifier();
      name_.components.back().name.insert(0, "operator\"\" ");
      return;
    }
    const std::string_view symbol = operator_symbol(rest());
    if (!symbol.empty()) {
      at_ += symbol.size();
      return add("operator" + std::string(symbol));
    }
    at_ = after_word;
    parse_conversion();
  }

  // `operator T(params)`, where T may hold parentheses too: the parameters are the last.
  void parse_conversion() {
    const std::size_t from = at_;
    while (at_ < text_.size()) {
      if (is_at('(')) {
        const std::size_t end = end_of_group(text_, at_);
        if (end >= text_.size() || text_[end] != '(') break;
        at_ = end;
      } else if (is_at('<') || is_at('[') || is_at('{')) {
        take_group();
      } else {
        ++at_;
      }
    }
    add("operator " + normalise_types(text_.substr(from, at_ - from)));
  }

  void parse_what_follows() {
    if (is_at(' ') && at_ + 1 < text_.size() && std::string_view("<(").find(text_[at_ + 1]) != std::string_view::npos) {
      ++at_;  // "operator< <int>", "parse (int)"
    }
    while (rest().starts_with("[abi:")) take_group();
    NameComponent& component = name_.components.back();
    if (is_at('<')) component.arguments = normalise_arguments(take_inside());
    while (rest().starts_with("[abi:")) take_group();
    if (is_at(' ') && at_ + 1 < text_.size() && text_[at_ + 1] == '(') ++at_;
    if (!is_at('(') || rest().starts_with(anonymous_namespace)) return;
    component.parameters = normalise_types(take_inside());
    if (component.parameters == "void") component.parameters = "";
    parse_qualifiers(component);
  }

  void parse_qualifiers(NameComponent& component) {
    for (bool found = true; found;) {
      found = false;
      const std::size_t before = at_;
      skip_spaces();
      for (const std::string_view qualifier : {"const", "volatile", "noexcept", "&&", "&"}) {
        if (!take(qualifier)) continue;
        component.qualifiers += qualifier;
        found = true;
        break;
      }
      if (!found) at_ = before;
    }
  }

  std::string_view text_;
  int depth_;  // of names within the angle brackets that a name begins with
  std::size_t at_ = 0;
  FunctionName name_;
};

bool can_be_left_out(const NameComponent& component) {
  return component.name == anonymous_namespace || component.name == "__cxx11" || component.name == "__1";
}

bool matches(const NameComponent& typed, const NameComponent& function) {
  const bool is_trait = typed.trait.empty() && !function.trait.empty() && typed.name == function.trait;
  if (typed.name != function.name && !is_trait) return false;
  if (!typed.trait.empty() && typed.trait != function.trait) return false;
  if (typed.arguments && typed.arguments != function.arguments) return false;
  if (typed.parameters && function.parameters && typed.parameters != function.parameters) return false;
  return typed.qualifiers.empty() || typed.qualifiers == function.qualifiers;
}

// Thunks and the like jump to the function they are named for.
bool is_stand_in(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kinds = {"virtual thunk to ", "non-virtual thunk to ",
                                                            "covariant return thunk to ", "transaction clone for ",
                                                            "non-transaction clone for "};
  return std::any_of(kinds.begin(), kinds.end(), [&](std::string_view kind) { return name.starts_with(kind); });
}

}  // namespace

std::string FunctionName::bare(std::size_t count) const {
  std::string text;
  const std::size_t from = components.size() - std::min(count, components.size());
  for (std::size_t index = from; index < components.size(); ++index) {
    if (index > from) text += "::";
    text += components[index].name;
  }
  return text;
}

FunctionName parse_function_name(std::string_view text) {
  return is_stand_in(text) ? FunctionName{} : Parser(text).parse();
}

bool matches(const FunctionName& typed, const FunctionName& function) {
  std::size_t left = function.components.size();
  bool is_last = true;
  for (auto wanted = typed.components.rbegin(); wanted != typed.components.rend(); ++wanted) {
    while (!is_last && left > 0 && can_be_left_out(function.components[left - 1]) &&
           !matches(*wanted, function.components[left - 1])) {
      --left;
    }
    if (left == 0 || !matches(*wanted, function.components[left - 1])) return false;
    --left;
    is_last = false;
  }
  if (!typed.is_absolute) return !typed.components.empty();
  return std::all_of(function.components.begin(), function.components.begin() + static_cast<std::ptrdiff_t>(left),
                     can_be_left_out);
}

std::string_view without_clone_suffix(std::string_view name) {
  for (std::size_t at = name.rfind(" [clone "); at != std::string_view::npos; at = name.rfind(" [clone ")) {
    name = name.substr(0, at);
  }
  static constexpr std::array<std::string_view, 9> kinds = {
      ".cold", ".part.", ".constprop.", ".isra.", ".lto_priv.", ".localalias", ".llvm.", ".default", ".resolver"};
  for (const std::string_view kind : kinds) {
    const std::size_t at = name.find(kind);
    if (at != std::string_view::npos && at > 0) name = name.substr(0, at);
  }
  return name;
}

}  // namespace flamb
