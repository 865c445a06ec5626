#include "typed_line.h"

#include "options/option_table.h"

namespace flamb {

namespace {

// As lldb_private::Args::ParseSingleArgument does it: quotes are taken off anywhere in a word; a backslash counts
// before a space, a quote or a backslash only.
class LldbSplitter {
 public:
  explicit LldbSplitter(std::string_view line) : line_(line) {}

  bool next(LldbWord& word) {
    while (at_ < line_.size() && is_space(line_[at_])) ++at_;
    if (at_ == line_.size()) return false;
    word = {{}, at_};
    while (at_ < line_.size() && !is_space(line_[at_])) read_part(word.text);
    return true;
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  void read_part(std::string& text) {
    const char c = line_[at_++];
    if (c == '\\') {
      read_escape(text, " \t\\'\"`");
    } else if (c == '"' || c == '\'' || c == '`') {
      while (at_ < line_.size() && line_[at_] != c) {
        const char inner = line_[at_++];
        if (c == '"' && inner == '\\') {
          read_escape(text, "\"\\");
        } else {
          text += inner;
        }
      }
      if (at_ < line_.size()) ++at_;
    } else {
      text += c;
    }
  }

  void read_escape(std::string& text, std::string_view escapable) {
    if (at_ == line_.size() || escapable.find(line_[at_]) == escapable.npos) {
      text += '\\';
    } else {
      text += line_[at_++];
    }
  }

  std::string_view line_;
  std::size_t at_ = 0;
};

// In quotes where core would otherwise not read it as this one word.
std::string quoted(std::string_view word) {
  if (!word.empty() && word.find_first_of(" \t\n\r\v\f\\\"'") == word.npos) return std::string(word);
  std::string text = "\"";
  for (const char c : word) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

// Of "--name=a b" only the value.
std::string quoted_option(std::string_view word) {
  const auto equals = word.find('=');
  if (equals == word.npos) return std::string(word);
  return std::string(word.substr(0, equals + 1)) + quoted(word.substr(equals + 1));
}

const OptionDefinition* wants_value(std::string_view word) {
  if (!word.starts_with('-') || word.find('=') != word.npos) return nullptr;
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  const OptionDefinition* definition = find_option(word);
  return definition && definition->takes_value() ? definition : nullptr;
}

}  // namespace

std::vector<LldbWord> split_as_lldb(std::string_view line) {
  std::vector<LldbWord> words;
  LldbSplitter splitter(line);
  for (LldbWord word; splitter.next(word);) words.push_back(word);
  return words;
}

std::string line_as_typed(const std::vector<std::string>& words, std::string_view given) {
  const std::vector<LldbWord> typed = split_as_lldb(given);
  std::size_t same = 0;
  while (same < words.size() && same < typed.size() &&
         words[words.size() - 1 - same] == typed[typed.size() - 1 - same].text) {
    ++same;
  }
  // All words, after `flamb`; or an alias that stands for the first of them, as in `command alias fa flamb apply`.
  const bool all = same == words.size() && typed.size() > same;
  const bool alias = same > 0 && same < words.size() && typed.size() == same + 1;
  if (!all && !alias) return {};
  std::string line;
  for (std::size_t i = 0; i < words.size() - same; ++i) line += quoted(words[i]) + ' ';
  return line.append(given.substr(typed[typed.size() - same].begin));
}

std::string line_of_words(const std::vector<std::string>& words) {
  std::string line;
  const bool is_apply = !words.empty() && words[0] == "apply";
  bool is_value = false;
  bool is_expression = false;  // the rest of the line, which core takes as it stands
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (i > 0) line += ' ';
    const bool is_option = !is_value && !is_expression && i > 0 && word.starts_with('-');
    if (is_apply && i > 0 && !is_option && !is_value) is_expression = true;
    line += is_expression ? word : is_option ? quoted_option(word) : quoted(word);
    is_value = is_option && wants_value(word) != nullptr;
    if (is_option && word == "--") is_expression = is_apply;
  }
  return line;
}

}  // namespace flamb
