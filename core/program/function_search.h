#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "program/function_name.h"
#include "program/loaded_module.h"
#include "program/program.h"

namespace flamb {

using Modules = std::vector<LoadedModule*>;

// The functions of these modules that `typed` stands for: by name, by linkage name or by entry address ("0x1234"). By
// module, then by address.
std::vector<const Function*> find_functions(const Modules& modules, std::string_view typed);

// Where functions that `typed` stands for are inlined: "file:line (in caller)", at most `limit`.
std::vector<std::string> find_inlined(const Modules& modules, std::string_view typed, std::size_t limit);

// Names like `typed`, best first, at most `limit`.
std::vector<std::string> suggest_names(const Modules& modules, std::string_view typed, std::size_t limit);

// Names that begin with `typed`, sorted, at most `limit`.
std::vector<std::string> complete_name(const Modules& modules, std::string_view typed, std::size_t limit);

}  // namespace flamb
