#include <exception>

#include "c_session.h"
#include "contract.h"

// libflamb.so with one more function: a session's debugger is put through a check of the contract suite. All else, and
// all of the Python side, is what users run.

namespace {

using BreakAt = void (*)(const char* function);
using State = const char* (*)();

}  // namespace

// The argument that a check wants its target to get; null if there is no such check.
FLAMB_EXPORT const char* flamb_contract_arguments(const char* name) {
  for (const flamb::contract::Check& check : flamb::contract::checks()) {
    if (check.name == name) return check.arguments.data();
  }
  return nullptr;
}

// What failed, a line each. `break_at` and `state` do what only a user can; the text of a state is copied at once.
FLAMB_EXPORT const char* flamb_contract_run(flamb_session* session, const char* name, BreakAt break_at, State state) {
  try {
    flamb::contract::Host host{session->debugger, [&](const std::string& function) { break_at(function.c_str()); },
                               [&] { return std::string(state()); }};
    session->error = flamb::contract::run(host, name);
  } catch (const std::exception& exception) {
    session->error = exception.what();
  }
  return session->error.c_str();
}
