#include <cstdint>

#include "contract.h"
#include "session.h"

// libflamb.so with a session of another kind: its commands are the checks of the contract suite. All else, and all of
// the Python side, is what users run.

using BreakAt = void (*)(const char* function);
using State = const char* (*)();

namespace {

BreakAt break_at = nullptr;
State state = nullptr;

}  // namespace

// What a user does, for the checks. The text that `describe_state` gives is copied at once.
extern "C" __attribute__((visibility("default"))) void flamb_contract_host(BreakAt set_breakpoint,
                                                                           State describe_state) {
  break_at = set_breakpoint;
  state = describe_state;
}

// The argument that a check wants its target to get.
extern "C" __attribute__((visibility("default"))) const char* flamb_contract_arguments(const char* name) {
  for (const flamb::contract::Check& check : flamb::contract::checks()) {
    if (check.name == name) return check.arguments.data();
  }
  return nullptr;
}

namespace flamb {

Result<Report> run_command(Debugger& debugger, std::string_view line) {
  contract::Host host{debugger, [](const std::string& function) { break_at(function.c_str()); },
                      [] { return std::string(state()); }, false};
  const std::string failures = contract::run(host, line);
  if (failures.empty()) return Report{};
  return fail(Fault::flamb, failures);
}

}  // namespace flamb
