#pragma once

#include <string>

#include "result.h"

namespace flamb {

// --open: starts a viewer for a file, detached from the debugger: in a session of its own, its output dropped, so that
// its end, output or failure never disturb the prompt, and quitting the debugger does not close it. `program` is a name
// on PATH, a path, or "browser" ($BROWSER, else xdg-open, else an installed browser). Returns what was started, for
// the user. A program that is not there is an error that names the file.
Result<std::string> open_viewer(const std::string& program, const std::string& file);

}  // namespace flamb
