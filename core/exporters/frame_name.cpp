#include "exporters/frame_name.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace flamb {
namespace {

constexpr std::string_view ellipsis = "…";
constexpr std::string_view replacement = "\uFFFD";

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

std::uint8_t byte_at(std::string_view text, std::size_t at) { return static_cast<std::uint8_t>(text[at]); }

Character decode(std::string_view text, std::size_t at) {
  const std::uint8_t lead = byte_at(text, at);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + bytes > text.size()) return {};
  std::uint32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t next = at + 1; next < at + bytes; ++next) {
    if ((byte_at(text, next) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte_at(text, next) & 0x3Fu);
  }
  const bool is_overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (is_overlong || is_surrogate || code > 0x10FFFF) return {};
  return {code, bytes, true};
}

// U+2028 and U+2029 end a line for JavaScript's regular expressions, and so for viewers.
bool breaks_a_line(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029;
}

bool is_wide(std::uint32_t code) {
  return (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
         (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
         (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
         (code >= 0x1F300 && code <= 0x1FAFF) || (code >= 0x20000 && code <= 0x3FFFD);
}

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char each) { return each >= 0x20 && each < 0x7F; });
}

// How many bytes from the start take at most `width` columns.
std::size_t prefix_of(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Character next = decode(text, at);
    const std::size_t needed = is_wide(next.code) ? 2 : 1;
    if (needed > width) break;
    width -= needed;
    at += next.bytes;
  }
  return at;
}

// Where the end that takes at most `width` columns begins.
std::size_t suffix_of(std::string_view text, std::size_t width) {
  std::size_t at = text.size();
  while (at > 0) {
    std::size_t previous = at - 1;
    while (previous > 0 && (byte_at(text, previous) & 0xC0) == 0x80) --previous;
    const std::size_t needed = is_wide(decode(text, previous).code) ? 2 : 1;
    if (needed > width) break;
    width -= needed;
    at = previous;
  }
  return at;
}

bool is_word(char each) { return std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '_'; }

// The end of "operator<<", "operator()" and the like: their signs are no brackets. 0 if there is none at `at`.
std::size_t operator_end(std::string_view name, std::size_t at) {
  constexpr std::string_view keyword = "operator";
  if (!name.substr(at).starts_with(keyword) || (at > 0 && is_word(name[at - 1]))) return 0;
  std::size_t end = at + keyword.size();
  if (end < name.size() && is_word(name[end])) return 0;
  if (name.substr(end).starts_with("()")) return end + 2;
  while (end < name.size() && std::string_view("<>=-+*/%^&|~!,").find(name[end]) != std::string_view::npos) ++end;
  return end;
}

}  // namespace

void append_clean_name(std::string& to, std::string_view name) {
  const std::size_t begin = to.size();
  if (is_plain(name)) {
    to += name;
  } else {
    for (std::size_t at = 0; at < name.size();) {
      const Character next = decode(name, at);
      if (!next.valid || next.code == 0xFFFE || next.code == 0xFFFF) {
        to += replacement;
      } else if (breaks_a_line(next.code)) {
        to += ' ';
      } else {
        to += name.substr(at, next.bytes);
      }
      at += next.bytes;
    }
  }
  if (to.find_first_not_of(' ', begin) == std::string::npos) to.replace(begin, std::string::npos, "[unknown]");
}

std::string clean_name(std::string_view name) {
  std::string clean;
  append_clean_name(clean, name);
  return clean;
}

std::string marked_name(const Frame& frame) { return clean_name(frame.name) + (frame.inlined ? " [inlined]" : ""); }

NameParts split_name(std::string_view name) {
  NameParts parts{0, name.size()};
  std::size_t outer = 0;  // where the component before the last begins
  std::size_t depth = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (const std::size_t end = operator_end(name, at); end != 0) {
      at = end - 1;
      continue;
    }
    const char each = name[at];
    if (each == '(' || each == '<' || each == '{' || each == '[') {
      // The last bracket outside others, unless it turns out to belong to what encloses the function.
      if (each == '(' && depth == 0 && at > parts.bare) parts.parameters = std::min(parts.parameters, at);
      ++depth;
    } else if ((each == ')' || each == '>' || each == '}' || each == ']') && depth > 0) {
      --depth;
    } else if (depth == 0 && name.substr(at).starts_with("::")) {
      outer = parts.bare;
      parts = {at + 2, name.size()};
      ++at;
    }
  }
  // A lambda's name is in the component before.
  if (name.substr(parts.bare).starts_with("operator()")) parts.bare = outer;
  return parts;
}

std::size_t columns(std::string_view clean) {
  if (is_plain(clean)) return clean.size();
  std::size_t sum = 0;
  for (std::size_t at = 0; at < clean.size();) {
    const Character next = decode(clean, at);
    sum += is_wide(next.code) ? 2 : 1;
    at += next.bytes;
  }
  return sum;
}

std::string shorten_end(std::string_view clean, std::size_t width) {
  if (columns(clean) <= width) return std::string(clean);
  if (width == 0) return {};
  return std::string(clean.substr(0, prefix_of(clean, width - 1))).append(ellipsis);
}

std::string shorten_middle(std::string_view clean, std::size_t width) {
  if (columns(clean) <= width) return std::string(clean);
  if (width == 0) return {};
  const std::size_t end = (width - 1) / 2;
  std::string shortened(clean.substr(0, prefix_of(clean, width - 1 - end)));
  return shortened.append(ellipsis).append(clean.substr(suffix_of(clean, end)));
}

std::string label(std::string_view clean, std::size_t width) {
  if (width < 3) return {};
  if (columns(clean) <= width) return std::string(clean);
  const NameParts parts = split_name(clean);
  const std::string_view without_parameters = clean.substr(0, parts.parameters);
  if (columns(without_parameters) <= width) return std::string(without_parameters);
  return shorten_end(without_parameters.substr(parts.bare), width);
}

}  // namespace flamb
