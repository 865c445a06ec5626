#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "result.h"

namespace flamb {

// FUNCTION-YYYYMMDDTHHMMSS.uuuuuu-N without its extension, in local time; the function's name reduced to [A-Za-z0-9_.-]
// and 60 characters.
std::string output_stem(std::string_view function, std::chrono::system_clock::time_point date, std::uint64_t number);

// Is there a directory that can be written to? Called before anything runs. An empty one is the working directory.
Result<void> check_output_directory(const std::string& directory);

// Writes a new file DIRECTORY/STEM.EXTENSION by `write` and returns its path (absolute). The file appears whole or not
// at all: it is written under a temporary name and linked to its own; an existing one is never overwritten, a number is
// added instead.
Result<std::string> write_output_file(const std::string& directory, std::string_view stem, std::string_view extension,
                                      const std::function<void(std::ostream&)>& write);

}  // namespace flamb
