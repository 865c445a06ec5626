#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

// A JSON value: a number, a string, an array or an object; true and false are numbers, null is nothing.
struct Json {
  enum class Kind { null, number, string, array, object };
  Kind kind = Kind::null;
  double number = 0;
  std::string string{};
  std::vector<Json> items{};
  std::map<std::string, Json> members{};
};

// Throws std::runtime_error if the text is no JSON.
Json parse_json(std::string_view text);

// The sum of all numbers in it.
double sum(const Json& value);
