#pragma once

#include <string_view>

#include "debugger.h"

namespace flamb {

// Runs one command: what follows `flamb` on the command line. Prints the report through the debugger. An
// Error is for the caller to show in its debugger's way; all that was collected is written by then.
Result<void> run_command(Debugger& debugger, std::string_view line);

}  // namespace flamb
