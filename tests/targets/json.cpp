// A real program full of templates: a JSON document, parsed by nlohmann-json. Callgrind says how often each function
// of the program was called.
// builds: gcc-O0 clang-O2
//
// flamb: capture read_document
// expect: callgrind calls read_document(char const*)
// stopped-in: main
#include <nlohmann/json.hpp>

#include "target.h"

FUNCTION int read_document(const char* text) {
  nlohmann::json document = nlohmann::json::parse(text);
  return static_cast<int>(document.size());
}

int main() {
  sink = read_document(R"({"a": 1})");
  return 0;
}
