#pragma once

#include <lldb/API/LLDB.h>

namespace flamb {

// Adds `flamb` with its subcommands to LLDB's commands. False if LLDB takes them not.
bool add_commands(lldb::SBDebugger debugger);

}  // namespace flamb
