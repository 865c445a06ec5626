#include <lldb/API/LLDB.h>

#include <charconv>
#include <cstdio>

#include "commands.h"
#include "lldb_version.h"

namespace {

constexpr int kOldestVersion = 14;

// A version that cannot be read is let pass: it may be a vendor's own numbering.
bool is_too_old(const std::string& version) {
  int major = kOldestVersion;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major < kOldestVersion;
}

}  // namespace

namespace lldb {

// LLDB looks for this name, mangled as it is, when a plugin is loaded.
__attribute__((visibility("default"))) bool PluginInitialize(SBDebugger debugger) {
  if (const std::string version = flamb::host_version(); is_too_old(version)) {
    std::fprintf(stderr, "flamb needs LLDB %d or newer: this is LLDB %s\n", kOldestVersion, version.c_str());
    return false;
  }
  return flamb::add_commands(debugger);
}

}  // namespace lldb
