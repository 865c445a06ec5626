#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/options.h"

// Every option of `flamb capture` and `flamb apply`, once: parsing, help and completion are made from this table.
namespace flamb {

struct OptionDefinition {
  std::string_view name;  // without dashes
  char letter = 0;        // its short form; 0: none
  std::string_view placeholder =
      {};                          // stands for the value in the help; empty: the allowed values stand there themselves
  std::string_view text;           // the help's sentences
  std::string_view fallback = {};  // what holds without the option, for the help; may be empty
  // What may be given (or is worth suggesting, where there is a placeholder); null: anything, or nothing for a flag.
  std::vector<std::string> (*values)() = nullptr;
  bool is_list = false;  // values are separated by commas, and a second use adds to the first
  // Called with the value, or an empty text for a flag. An error's message is without the option's name.
  Result<void> (*set)(Options& options, std::string_view value) = nullptr;

  bool takes_value() const { return values || !placeholder.empty(); }
};

std::span<const OptionDefinition> option_definitions();

// By name or letter, without dashes. Null if there is none.
const OptionDefinition* find_option(std::string_view name);

}  // namespace flamb
