#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "call_tree.h"

// Names as the formats can carry and people can read them. Width is in columns: what a character takes of a fixed-width
// font, one or two.
namespace flamb {

// Valid UTF-8 on one line: control characters and line separators become spaces, bytes that are not UTF-8 and
// characters that XML forbids become U+FFFD. A name with nothing to see in it becomes "[unknown]".
std::string clean_name(std::string_view name);

// The same, added to the end of `to`.
void append_clean_name(std::string& to, std::string_view name);

// The frame's name, clean, and whether it is inlined: for formats that have no other place for that.
std::string marked_name(const Frame& frame);

// The parts of a C++ function's name, as byte offsets.
struct NameParts {
  std::size_t bare = 0;        // where the name begins without namespaces and classes
  std::size_t parameters = 0;  // where "(int) const" begins, or the end
};
NameParts split_name(std::string_view name);

std::size_t columns(std::string_view clean);

// At most `width` columns: the whole, or its begin (shorten_end) or its begin and end (shorten_middle) with an
// ellipsis.
std::string shorten_end(std::string_view clean, std::size_t width);
std::string shorten_middle(std::string_view clean, std::size_t width);

// The most telling form that fits: the whole name, without its parameters, its bare name, and at last that one cut.
// Empty where not even two letters fit.
std::string label(std::string_view clean, std::size_t width);

}  // namespace flamb
