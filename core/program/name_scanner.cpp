#include "program/name_scanner.h"

#include <algorithm>
#include <array>

namespace flamb {
namespace {

constexpr std::string_view operator_word = "operator";

bool closes(char c) { return c == ')' || c == ']' || c == '}'; }
bool opens(char c) { return c == '(' || c == '[' || c == '{'; }

// In parentheses, < and > may compare or shift: only the other brackets count.
std::size_t end_of_plain_group(std::string_view text, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (opens(text[at])) ++depth;
    if (closes(text[at]) && --depth == 0) return at + 1;
  }
  return text.size();
}

std::size_t end_of_angle_group(std::string_view text, std::size_t open) {
  std::size_t depth = 0;
  std::size_t at = open;
  while (at < text.size()) {
    if (opens(text[at])) {
      at = end_of_plain_group(text, at);
      continue;
    }
    if (is_operator_at(text, at)) {
      at += operator_word.size();
      at += operator_symbol(text.substr(at)).size();
      continue;
    }
    if (text[at] == '<') ++depth;
    const bool is_arrow = text[at] == '>' && text[at - 1] == '-';
    if (text[at] == '>' && !is_arrow && --depth == 0) return at + 1;
    ++at;
  }
  return text.size();
}

}  // namespace

bool is_identifier_character(char c) {
  const bool is_ascii =
      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
  return is_ascii || static_cast<unsigned char>(c) >= 0x80;
}

std::size_t end_of_group(std::string_view text, std::size_t open) {
  return text[open] == '<' ? end_of_angle_group(text, open) : end_of_plain_group(text, open);
}

bool is_operator_at(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with(operator_word)) return false;
  if (at > 0 && is_identifier_character(text[at - 1])) return false;
  const std::size_t after = at + operator_word.size();
  return after < text.size() && !is_identifier_character(text[after]);
}

std::string_view operator_symbol(std::string_view text) {
  static constexpr std::array<std::string_view, 40> symbols = {
      "<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
      "++",  "--",  "+=",  "-=",  "*=", "/=", "%=", "^=", "&=", "|=", "->", "<",  ">",  "+",
      "-",   "*",   "/",   "%",   "^",  "&",  "|",  "~",  "!",  "=",  ",",  "?"};
  const auto found =
      std::find_if(symbols.begin(), symbols.end(), [&](std::string_view s) { return text.starts_with(s); });
  return found != symbols.end() ? text.substr(0, found->size()) : std::string_view();
}

}  // namespace flamb
