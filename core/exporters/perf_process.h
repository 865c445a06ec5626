#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profile.h"

// What perf's formats, binary and text, say of the process. They have no way to leave it out.
namespace flamb {

// Process 0 is the kernel's idle task for perf.
std::uint32_t perf_pid(const Profile& profile);
std::uint32_t perf_tid(const Profile& profile, std::uint64_t thread);

// The program's file name, as long as the kernel lets a name be: 15 bytes of UTF-8.
std::string perf_command(const Profile& profile);

// How long perf's formats, which know only nanoseconds, let one of the unit take. A microsecond, where it is no time:
// perf script prints no less.
constexpr std::uint64_t perf_nanoseconds(Unit unit) { return unit == Unit::nanoseconds ? 1 : 1000; }

// For the user, where the threads cannot be told apart; else empty.
std::string note_of_lost_order(const Profile& profile);

}  // namespace flamb
