#pragma once

#include <string>
#include <string_view>

namespace flamb {

// The name a user reads for a symbol of C++ or Rust: with parameters, without return type. Any other symbol is returned
// as it is.
std::string demangle(std::string_view linkage_name);

// A symbol without its version: "memcpy@@GLIBC_2.14" is "memcpy".
std::string_view without_version(std::string_view symbol);

}  // namespace flamb
