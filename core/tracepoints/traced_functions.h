#pragma once

#include <string>
#include <vector>

#include "collector.h"
#include "tracepoints/target_memory.h"

namespace flamb {

// A function that gets a tracepoint, or a PLT entry that stands for one.
struct TracedFunction {
  Address entry = 0;
  std::size_t size = 0;
  Address limit = 0;  // up to which its code may be looked at: its end, or that of the padding behind a short one
  FrameId frame = 0;
  std::string name;
  bool is_counted_only = false;  // its return address must be its caller's: it returns twice, or asks who calls it
};

// All of them. A function's number is its place in the list.
struct TracedFunctions {
  std::vector<TracedFunction> list;
  std::size_t triggers = 0;  // so many at the beginning are triggers
  std::size_t borders = 0;   // those from here on are functions out of scope, traced where code in scope calls them
  std::vector<AddressRange> scope;  // the code in scope
};

// What is to be traced when the functions at these entries are triggers: the functions in scope, and what they call of
// others. The target is stopped.
TracedFunctions choose_functions(Invocations& invocations, const std::vector<Address>& triggers,
                                 const TargetMemory& memory);

}  // namespace flamb
