#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "options/option_table.h"

// What the words of a command line are, before any of them is checked: shared by parsing and completion.
namespace flamb {

struct Word {
  std::string text;       // without its quotes
  std::size_t begin = 0;  // where it is in the line, quotes included
  std::size_t end = 0;
  bool quoted = false;        // the whole word is in quotes: never an option or a count
  bool unterminated = false;  // the line ends within the quotes
  bool half_quoted = false;   // text follows the closing quote, so that the quotes are plain characters
};

enum class Role {
  command,     // the first word
  topic,       // what follows `help`, or a command that is not known
  option,      // -x, --xxx, --xxx=value
  value,       // the word after an option that takes one
  separator,   // --
  function,    // FUNCTION or COUNT
  expression,  // the rest of the line, verbatim
};

struct Part {
  Role role = Role::command;
  Word word;
  const OptionDefinition* option = nullptr;  // option: null if there is none of this name. value: whose it is
};

// With `at_cursor`, a line that ends in a space has an empty word there: the one being typed.
std::vector<Part> split(std::string_view line, bool at_cursor = false);

// "--open=browser" is the name "open" and the value "browser".
std::string_view option_name(std::string_view word);

}  // namespace flamb
