#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "call_tree.h"
#include "timeline.h"

namespace flamb {

enum class Unit { nanoseconds, instructions, calls };

constexpr std::string_view unit_name(Unit unit) {
  switch (unit) {
    case Unit::nanoseconds: return "nanoseconds";
    case Unit::instructions: return "instructions";
    case Unit::calls: return "calls";
  }
  return "";
}

// What is told apart of the invocations that were merged into one profile.
struct ProfilePart {
  std::uint64_t invocation = 1;  // in order of entry, from 1
  std::uint64_t thread_id = 0;
  Timeline timeline = Timeline();  // of the profile's tree
};

// One invocation (or several merged into one) as the exporters see it.
struct Profile {
  std::string trigger;                                           // the function's name, or the expression of an apply
  std::vector<ProfilePart> parts = std::vector<ProfilePart>(1);  // in order of entry; never empty
  std::string program;                                           // path of the main executable
  std::int64_t pid = 0;
  std::string debugger;                        // "LLDB 19.1.7"
  std::string collector;                       // "breakpoints"
  std::chrono::system_clock::time_point date;  // when the invocation began
  Unit unit = Unit::calls;
  std::uint64_t hook_cost = 0;  // nanoseconds a call that were measured and subtracted: a bound of the error, by call
  std::string incomplete;       // why the invocation was cut short; empty when it ran to its end

  std::shared_ptr<const FrameTable> frames;  // of the tree's frame ids; never null
  CallTree tree;  // of all parts; the trigger is a child of the root (below its callers with --callers)

  std::uint64_t invocation() const { return parts.front().invocation; }
};

}  // namespace flamb
