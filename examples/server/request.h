#pragma once

#include <map>
#include <string>
#include <string_view>

#include "json.h"

using Fields = std::map<std::string, std::string>;

struct Request {
  std::string method;
  std::string path;
  Fields query;
  Fields headers;
  Json body;
};

// Reads a whole HTTP request; the body as its Content-Type says. Throws std::runtime_error if it is none.
Request parse_request(std::string_view text);
