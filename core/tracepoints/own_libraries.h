#pragma once

#include <string_view>

namespace flamb {

// What tracepoints load into the target.
inline constexpr std::string_view agent_name = "libflamb-agent.so";
inline constexpr std::string_view stubs_prefix = "flamb-stubs-";

// Is the file a library of flamb's own? Its functions never get a frame.
inline bool is_own_library(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == agent_name || name.starts_with(stubs_prefix);
}

}  // namespace flamb
