#pragma once

#include <cstdint>
#include <vector>

#include "program/elf_image.h"
#include "program/imports.h"
#include "program/symbol_table.h"

namespace flamb {

// The addresses in the file, sorted, of functions of the image that its own data or code takes the address of. Names it
// refers to elsewhere are Imports::referenced_names. Resolvers of ifuncs and cold parts are left out.
std::vector<std::uint64_t> address_taken(const ElfImage& image, const SymbolTable& symbols, const Imports& imports);

}  // namespace flamb
