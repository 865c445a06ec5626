#pragma once

#include <string>

#include "result.h"

namespace flamb {

// --open: starts a viewer for a file, detached from the debugger: in a session of its own, its output dropped, so that
// its end, output or failure never disturb the prompt, and quitting the debugger does not close it. `program` is one of
// known_viewers.h (of these, "browser" is $BROWSER, else xdg-open, else an installed browser), a name on PATH or a
// path. Returns what was started, for the user. What cannot be started is an error that names the file.
Result<std::string> open_viewer(const std::string& program, const std::string& file);

// Could it be started now? The error has the reason.
Result<void> check_viewer(const std::string& program);

}  // namespace flamb
