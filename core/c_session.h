#pragma once

#include <string>
#include <vector>

#include "callback_debugger.h"
#include "session.h"

// What is behind the handle of core/c_api.h.
struct flamb_session {
  explicit flamb_session(const flamb_callbacks& callbacks) : debugger(callbacks) {}

  flamb::CallbackDebugger debugger;
  flamb::Report report;  // of the last command
  std::string error;
  std::vector<std::string> completions;
};
