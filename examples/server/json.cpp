#include "json.h"

#include <cstdlib>
#include <stdexcept>

namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Json document() {
    Json value = this->value();
    skip_space();
    if (!text_.empty()) throw std::runtime_error("text after the document");
    return value;
  }

 private:
  Json value() {
    skip_space();
    switch (peek()) {
      case '{': return object();
      case '[': return array();
      case '"': return {.kind = Json::Kind::string, .string = string()};
      case 't': return word("true", {.kind = Json::Kind::number, .number = 1});
      case 'f': return word("false", {.kind = Json::Kind::number, .number = 0});
      case 'n': return word("null", {});
      default: return number();
    }
  }

  Json object() {
    Json object{.kind = Json::Kind::object};
    list('{', '}', [&] {
      skip_space();
      std::string name = string();
      expect(':');
      object.members.emplace(std::move(name), value());
    });
    return object;
  }

  Json array() {
    Json array{.kind = Json::Kind::array};
    list('[', ']', [&] { array.items.push_back(value()); });
    return array;
  }

  template <class Item>
  void list(char open, char close, Item item) {
    expect(open);
    skip_space();
    if (peek() != close) {
      do item();
      while (accept(','));
    }
    expect(close);
  }

  std::string string() {
    expect('"');
    const std::size_t end = text_.find('"');
    if (end == std::string_view::npos) throw std::runtime_error("a string without an end");
    std::string result(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return result;
  }

  Json number() {
    const std::string digits(text_.substr(0, text_.find_first_not_of("+-.0123456789eE")));
    if (digits.empty()) throw std::runtime_error("no value");
    text_.remove_prefix(digits.size());
    return {.kind = Json::Kind::number, .number = std::strtod(digits.c_str(), nullptr)};
  }

  Json word(std::string_view word, Json value) {
    if (!text_.starts_with(word)) throw std::runtime_error("an unknown word");
    text_.remove_prefix(word.size());
    return value;
  }

  char peek() const { return text_.empty() ? '\0' : text_.front(); }

  void skip_space() { text_.remove_prefix(std::min(text_.find_first_not_of(" \n"), text_.size())); }

  bool accept(char wanted) {
    skip_space();
    if (peek() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) throw std::runtime_error(std::string("no ") + wanted);
  }

  std::string_view text_;
};

}  // namespace

Json parse_json(std::string_view text) { return Parser(text).document(); }

double sum(const Json& value) {
  double total = value.number;
  for (const Json& item : value.items) total += sum(item);
  for (const auto& [name, member] : value.members) total += sum(member);
  return total;
}
