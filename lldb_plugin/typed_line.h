#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace flamb {

// LLDB hands a command the words of its line with the quotes taken off; core wants the line as it was typed.

struct LldbWord {
  std::string text;       // as LLDB hands it over
  std::size_t begin = 0;  // where it is in the line
};

// The words of a line by LLDB's rules of quoting.
std::vector<LldbWord> split_as_lldb(std::string_view line);

// What was typed after `flamb`: from a line LLDB was given, if the words that came are indeed its last ones, else
// empty.
std::string line_as_typed(const std::vector<std::string>& words, std::string_view given);

// A line that core reads as these words; the quotes within an expression cannot be got back.
std::string line_of_words(const std::vector<std::string>& words);

}  // namespace flamb
