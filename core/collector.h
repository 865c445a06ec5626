#pragma once

#include <memory>
#include <string>
#include <vector>

#include "debugger.h"
#include "options.h"
#include "profile.h"
#include "program.h"

namespace flamb {

// What a collector gives: the invocations in order of entry, and how it ended.
struct Collection {
  std::vector<Profile> profiles;  // with `frames` left empty: the ids are those of the session's FrameTable
  Stop last_stop;                 // where the target is now
  bool ended_as_asked = false;    // all invocations asked for were seen to their end
};

}  // namespace flamb
