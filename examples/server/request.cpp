#include "request.h"

#include <cctype>
#include <memory>
#include <stdexcept>

namespace {

// How a body is read: one class a content type.
class Body {
 public:
  virtual ~Body() = default;
  virtual Json parse(std::string_view text) const = 0;
};

// Takes what is before the separator off the front of the text, and the separator.
template <class Separator>
std::string_view take_until(std::string_view& text, Separator separator) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + std::string_view(separator).size());
  return taken;
}

int hex_digit(char digit) {
  if (std::isdigit(static_cast<unsigned char>(digit)) != 0) return digit - '0';
  if (std::isxdigit(static_cast<unsigned char>(digit)) != 0) return std::tolower(digit) - 'a' + 10;
  throw std::runtime_error("a percent sign without two digits");
}

std::string decode_url(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      decoded += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

Fields parse_query(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    std::string_view field = take_until(text, "&");
    std::string name = decode_url(take_until(field, "="));
    fields[std::move(name)] = decode_url(field);
  }
  return fields;
}

std::string lower_case(std::string_view text) {
  std::string lowered(text);
  for (char& letter : lowered) letter = static_cast<char>(std::tolower(letter));
  return lowered;
}

Fields parse_headers(std::string_view& text) {
  Fields headers;
  for (std::string_view line = take_until(text, "\r\n"); !line.empty(); line = take_until(text, "\r\n")) {
    std::string name = lower_case(take_until(line, ": "));
    headers[std::move(name)] = line;
  }
  return headers;
}

class JsonBody final : public Body {
 public:
  Json parse(std::string_view text) const override { return parse_json(text); }
};

class FormBody final : public Body {
 public:
  Json parse(std::string_view text) const override {
    Json form{.kind = Json::Kind::object};
    for (auto& [name, value] : parse_query(text)) form.members[name] = {.kind = Json::Kind::string, .string = value};
    return form;
  }
};

std::unique_ptr<Body> body_of(const Fields& headers) {
  const auto type = headers.find("content-type");
  if (type == headers.end()) return nullptr;
  if (type->second == "application/json") return std::make_unique<JsonBody>();
  if (type->second == "application/x-www-form-urlencoded") return std::make_unique<FormBody>();
  throw std::runtime_error("an unknown content type");
}

}  // namespace

Request parse_request(std::string_view text) {
  Request request;
  std::string_view line = take_until(text, "\r\n");
  request.method = take_until(line, " ");
  std::string_view target = take_until(line, " ");
  request.path = decode_url(take_until(target, "?"));
  request.query = parse_query(target);
  request.headers = parse_headers(text);
  if (const auto body = body_of(request.headers)) request.body = body->parse(text);
  return request;
}
