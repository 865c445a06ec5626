#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "debugger.h"

namespace flamb {

// What a command has made, for scripts; the user has been shown the same through the debugger.
struct Report {
  std::vector<std::string> files;   // absolute paths, in order of entry, then of the formats asked for
  std::vector<std::string> values;  // return values as the debugger prints them, in order of entry
  std::vector<std::string> data;    // the graphs themselves, in the order of files (--return flamegraph)
  bool has_run = false;             // the target ran, and is somewhere else now
};

// Runs one command: what follows `flamb` on the command line. Prints its report through the debugger. An
// Error is for the caller to show in its debugger's way; all that was collected is written by then.
Result<Report> run_command(Debugger& debugger, std::string_view line);

// Names of functions of the target that begin with what was typed, for completion. Sorted, at most `limit`.
std::vector<std::string> complete_function(Debugger& debugger, std::string_view typed, std::size_t limit);

}  // namespace flamb
