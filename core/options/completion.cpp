#include <algorithm>

#include "options/command_line.h"
#include "options/option_table.h"
#include "options/options.h"

namespace flamb {
namespace {

// Those of the candidates that begin with `typed`.
std::vector<std::string> matching(std::string_view typed, std::vector<std::string> candidates) {
  std::erase_if(candidates, [&](const std::string& candidate) { return !candidate.starts_with(typed); });
  std::ranges::sort(candidates);
  return candidates;
}

std::vector<std::string> option_names(std::string_view typed) {
  const std::string_view dashes = typed == "-" || typed.starts_with("--") ? "--" : "-";
  std::vector<std::string> names;
  for (const OptionDefinition& option : option_definitions()) {
    names.push_back(std::string(dashes).append(option.name));
  }
  return matching(typed, std::move(names));
}

// `prefix` is what stays before the value in the word: "--open=", or nothing.
std::vector<std::string> values(const OptionDefinition& option, std::string_view prefix, std::string_view typed) {
  if (!option.values) return {};
  std::string before(prefix);
  if (const std::size_t comma = typed.rfind(','); option.is_list && comma != std::string_view::npos) {
    before += typed.substr(0, comma + 1);
    typed.remove_prefix(comma + 1);
  }
  std::vector<std::string> words = matching(typed, option.values());
  for (std::string& word : words) word.insert(0, before);
  return words;
}

}  // namespace

std::vector<std::string> complete(std::string_view line) {
  const std::vector<Part> parts = split(line, true);
  const Part& last = parts.back();
  const std::string_view typed = last.word.text;
  switch (last.role) {
    case Role::command: return matching(typed, {"apply", "capture", "help"});
    case Role::topic:
      return parts.front().word.text == "help" && parts.size() == 2 ? matching(typed, {"apply", "capture"})
                                                                    : std::vector<std::string>();
    case Role::value: return values(*last.option, "", typed);
    case Role::option: {
      const std::size_t equals = typed.find('=');
      if (equals == std::string_view::npos) return option_names(typed);
      return last.option ? values(*last.option, typed.substr(0, equals + 1), typed.substr(equals + 1))
                         : std::vector<std::string>();
    }
    case Role::separator: return option_names(typed);
    case Role::function:
    case Role::expression: {
      const bool options_ended = std::ranges::find(parts, Role::separator, &Part::role) != parts.end();
      return typed == "-" && !options_ended ? option_names(typed) : std::vector<std::string>();
    }
  }
  return {};
}

std::optional<std::string> completes_function(std::string_view line) {
  const std::vector<Part> parts = split(line, true);
  const Part& last = parts.back();
  if (last.role == Role::expression) return last.word.text;
  if (last.role != Role::function) return std::nullopt;
  std::string typed;
  bool first = true;
  for (const Part& part : parts) {
    if (part.role != Role::function) continue;
    if (!std::exchange(first, false)) typed += ' ';
    typed += part.word.text;
  }
  return typed;
}

}  // namespace flamb
