#include <array>
#include <string>
#include <string_view>

#include "program/function_name.h"
#include "program/name_scanner.h"

namespace flamb {
namespace {

bool ends_word(char c) { return is_identifier_character(c) || c == '>' || c == ')'; }

std::string without_needless_spaces(std::string_view text) {
  std::string result;
  bool is_after_space = false;
  for (const char c : text) {
    if (c == ' ') {
      is_after_space = true;
      continue;
    }
    const bool parts_words = !result.empty() && ends_word(result.back()) && is_identifier_character(c);
    if (is_after_space && parts_words) result += ' ';
    result += c;
    is_after_space = false;
  }
  return result;
}

// "const char*" is "char const*".
void move_const_behind(std::string& text) {
  constexpr std::string_view word = "const ";
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    const bool begins_type = at == 0 || std::string_view(",(<").find(text[at - 1]) != std::string_view::npos;
    if (!begins_type) {
      at += word.size();
      continue;
    }
    text.erase(at, word.size());
    std::size_t end = at;
    while (end < text.size() && std::string_view("*&,)>([").find(text[end]) == std::string_view::npos) {
      end = text[end] == '<' ? end_of_group(text, end) : end + 1;
    }
    text.insert(end, " const");
    ++at;  // what follows can be `const` again
  }
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

// Nobody types the default arguments of std::vector or std::map: `,std::allocator<...>` before a closing bracket.
void drop_default_arguments(std::string& text) {
  static constexpr std::array<std::string_view, 6> defaults = {",std::allocator<",      ",std::char_traits<",
                                                               ",std::default_delete<", ",std::less<",
                                                               ",std::equal_to<",       ",std::hash<"};
  bool changed = true;
  while (changed) {
    changed = false;
    for (const std::string_view argument : defaults) {
      for (std::size_t at = text.find(argument); at != std::string::npos; at = text.find(argument, at)) {
        const std::size_t end = end_of_group(text, at + argument.size() - 1);
        if (end < text.size() && text[end] == '>') {
          text.erase(at, end - at);
          changed = true;
        } else {
          at += argument.size();
        }
      }
    }
  }
}

}  // namespace

std::string normalise_types(std::string_view types) {
  constexpr std::size_t longest = 20000;  // what no one typed need not be made comparable
  std::string text = without_needless_spaces(types);
  if (text.size() > longest) return text;
  move_const_behind(text);
  replace_all(text, "std::__cxx11::", "std::");
  replace_all(text, "std::__1::", "std::");
  drop_default_arguments(text);
  replace_all(text, "std::basic_string<char>", "std::string");
  replace_all(text, "std::basic_string_view<char>", "std::string_view");
  return text;
}

std::string normalise_arguments(std::string_view arguments) {
  const std::string text = normalise_types("<" + std::string(arguments) + ">");
  return text.substr(1, text.size() - 2);
}

}  // namespace flamb
