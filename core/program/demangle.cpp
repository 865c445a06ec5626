#include "program/demangle.h"

#include <libiberty/demangle.h>

#include <cstdlib>
#include <memory>

namespace flamb {

std::string demangle(std::string_view linkage_name) {
  std::string name(linkage_name);
  if (!name.starts_with('_')) return name;  // no mangling scheme begins otherwise: spares most C names the call
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      cplus_demangle(name.c_str(), DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP | DMGL_AUTO), &std::free);
  if (demangled && *demangled) name = demangled.get();
  return name;
}

std::string_view without_version(std::string_view symbol) {
  const std::size_t at = symbol.find('@');
  return at == std::string_view::npos || at == 0 ? symbol : symbol.substr(0, at);
}

}  // namespace flamb
