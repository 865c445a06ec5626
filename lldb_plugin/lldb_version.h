#pragma once

#include <lldb/API/LLDB.h>

#include <string>
#include <string_view>

namespace flamb {

// "19.1.7" of "lldb version 19.1.7 (...)"; the whole text if it has another shape.
inline std::string host_version() {
  const char* text = lldb::SBDebugger::GetVersionString();
  std::string_view version = text ? text : "";
  constexpr std::string_view kBefore = "version ";
  if (const auto at = version.find(kBefore); at != version.npos) version.remove_prefix(at + kBefore.size());
  return std::string(version.substr(0, version.find_first_of(" \n(")));
}

}  // namespace flamb
