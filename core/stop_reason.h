#pragma once

#include <optional>
#include <string>

#include "debugger.h"

namespace flamb {

// Why a capture ended at a stop, as the report says it. `timed_out`: the time after which the stop was asked for.
std::string stop_reason(const Stop& stop, std::optional<double> timed_out);

// Does the target go on after the signal? Else it is the end of it, and of a capture.
bool is_handled_signal(const TargetInfo& target, int signal);

}  // namespace flamb
