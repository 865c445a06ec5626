#pragma once

#include <lldb/API/LLDB.h>

#include <cstdint>
#include <optional>
#include <string>

#include "result.h"

namespace flamb {

// The value that a function of this type left behind, by the System V ABI for x86-64, as LLDB prints it; empty for
// void. The frame is the caller's, stopped at the return address. `first_argument` is rdi as it was at the entry, if
// known: a class that is returned in memory has its place there.
Result<std::string> returned_value(lldb::SBFrame frame, lldb::SBType declared,
                                   std::optional<std::uint64_t> first_argument);

}  // namespace flamb
