#pragma once

#include <cstddef>
#include <string_view>

// Where the brackets and operators of a demangled name end.
namespace flamb {

bool is_identifier_character(char c);

// The offset after the group that the bracket at `open` begins ( ( [ { or < ); the text's end if it is not closed.
std::size_t end_of_group(std::string_view text, std::size_t open);

// Does the word `operator` stand at `at`, as a word of its own?
bool is_operator_at(std::string_view text, std::size_t at);

// The symbol of an overloaded operator that `text` begins with, as long as can be: "<<=" of "<<=(A&)". Empty if there
// is none.
std::string_view operator_symbol(std::string_view text);

}  // namespace flamb
