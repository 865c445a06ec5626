#include "options/command_line.h"

#include <optional>
#include <utility>

namespace flamb {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }
bool is_quote(char c) { return c == '"' || c == '\''; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// `->`, `--` and `-3` may belong to a function's name or an expression.
bool looks_like_option(const Word& word) {
  if (word.quoted || !word.text.starts_with('-')) return false;
  const std::size_t dashes = word.text.starts_with("--") ? 2 : 1;
  return word.text.size() > dashes && is_letter(word.text[dashes]);
}

class Lexer {
 public:
  Lexer(std::string_view line, bool at_cursor) : line_(line), at_cursor_(at_cursor) {}

  std::optional<Word> next() {
    const std::size_t previous_end = position_;
    skip_spaces();
    Word word;
    word.begin = position_;
    if (position_ == line_.size()) {
      const bool new_word = position_ == 0 || position_ > previous_end;
      if (!std::exchange(at_cursor_, false) || !new_word) return std::nullopt;
    } else if (is_quote(line_[position_]) && read_quoted(word)) {
      word.quoted = true;
    } else {
      read_bare(word);
    }
    word.end = position_;
    return word;
  }

  // The rest of the line as one word, spaces at its ends dropped (at its end only without a cursor).
  Word rest(std::size_t begin) {
    std::size_t end = line_.size();
    while (!at_cursor_ && end > begin && is_space(line_[end - 1])) --end;
    position_ = line_.size();
    at_cursor_ = false;
    return Word{.text = std::string(line_.substr(begin, end - begin)), .begin = begin, .end = end};
  }

 private:
  void skip_spaces() {
    while (position_ < line_.size() && is_space(line_[position_])) ++position_;
  }

  // Quotes enclose a whole word or a whole value. Others are plain characters: C++ names have them, as in
  // `operator""_s` and `main::'lambda'(int)`.
  bool read_quoted(Word& word) {
    const char quote = line_[position_];
    std::string text;
    for (std::size_t i = position_ + 1; i < line_.size(); ++i) {
      const bool escaped =
          quote == '"' && line_[i] == '\\' && i + 1 < line_.size() && (line_[i + 1] == '\\' || line_[i + 1] == '"');
      if (escaped) {
        text += line_[++i];
      } else if (line_[i] != quote) {
        text += line_[i];
      } else {
        if (i + 1 < line_.size() && !is_space(line_[i + 1])) return false;
        word.text += text;
        position_ = i + 1;
        return true;
      }
    }
    word.text += text;
    word.unterminated = true;
    position_ = line_.size();
    return true;
  }

  void read_bare(Word& word) {
    bool value_begins = false;
    word.half_quoted = is_quote(line_[position_]);
    for (; position_ < line_.size() && !is_space(line_[position_]); ++position_) {
      char c = line_[position_];
      if (value_begins && is_quote(c)) {
        if (read_quoted(word)) return;
        word.half_quoted = true;
      }
      value_begins = c == '=' && looks_like_option(word) && word.text.find('=') == std::string::npos;
      if (c == '\\' && position_ + 1 < line_.size()) {
        const char next = line_[position_ + 1];
        if (next == '\\' || is_space(next) || is_quote(next)) c = line_[++position_];
      }
      word.text += c;
    }
  }

  std::string_view line_;
  std::size_t position_ = 0;
  bool at_cursor_;
};

void split_arguments(Lexer& lexer, bool verbatim, std::vector<Part>& parts) {
  bool options_ended = false;
  const OptionDefinition* wants_value = nullptr;
  while (std::optional<Word> word = lexer.next()) {
    const bool is_option = !options_ended && looks_like_option(*word);
    const bool is_separator = !options_ended && !word->quoted && word->text == "--" &&
                              !(parts.back().role == Role::function && parts.back().word.text.ends_with("operator"));
    if (wants_value && !is_option && !is_separator) {
      parts.push_back({Role::value, std::move(*word), std::exchange(wants_value, nullptr)});
    } else if (is_option) {
      const OptionDefinition* definition = find_option(option_name(word->text));
      const bool has_value = word->text.find('=') != std::string::npos;
      wants_value = definition && definition->takes_value() && !has_value ? definition : nullptr;
      parts.push_back({Role::option, std::move(*word), definition});
    } else if (is_separator) {
      options_ended = true;
      wants_value = nullptr;
      parts.push_back({Role::separator, std::move(*word)});
    } else if (verbatim) {
      parts.push_back({Role::expression, lexer.rest(word->begin)});
    } else {
      parts.push_back({Role::function, std::move(*word)});
    }
  }
}

}  // namespace

std::string_view option_name(std::string_view word) {
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  return word.substr(0, word.find('='));
}

std::vector<Part> split(std::string_view line, bool at_cursor) {
  Lexer lexer(line, at_cursor);
  std::vector<Part> parts;
  std::optional<Word> command = lexer.next();
  if (!command) return parts;
  if (looks_like_option(*command)) {
    const OptionDefinition* definition = find_option(option_name(command->text));
    parts.push_back({Role::option, std::move(*command), definition});
  } else {
    parts.push_back({Role::command, std::move(*command)});
  }
  const std::string name = parts.back().word.text;
  if (parts.back().role == Role::command && (name == "capture" || name == "apply")) {
    split_arguments(lexer, name == "apply", parts);
  } else {
    while (std::optional<Word> word = lexer.next()) parts.push_back({Role::topic, std::move(*word)});
  }
  return parts;
}

}  // namespace flamb
