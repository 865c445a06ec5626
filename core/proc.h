#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

// What /proc says of a process on this machine.
namespace flamb {

// A number from /proc/PID/status ("TracerPid", decimal); nothing without the process or the field.
std::optional<std::uint64_t> proc_status(pid_t pid, std::string_view field);

// Is the process stopped by a debugger? One that was just killed is not, nor is one of another machine.
bool is_held(pid_t pid);

// Does the process have a handler for the signal?
bool catches_signal(pid_t pid, int signal);

// Does it have a handler for any signal?
bool catches_signals(pid_t pid);

// Is the signal on its way to this very thread?
bool is_pending(pid_t thread, int signal);

// The signals that the process handles or ignores, the lowest bit being signal 1; 0 without the process.
std::uint64_t survived_signals(pid_t pid);

// The ids of its threads; none without the process.
std::vector<pid_t> proc_threads(pid_t pid);

}  // namespace flamb
