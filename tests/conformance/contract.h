#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "debugger.h"

// What core/debugger.h asks of an adapter, as checks that run inside the host debugger against `contract_target`. It
// knows no debugger: a host gives it the adapter and the things that only a debugger's user can do. One check a
// process.
namespace flamb::contract {

class Report;

struct Host {
  Debugger& debugger;
  // Sets a breakpoint on a function of the target as the user would (`break set -n`, `break`).
  std::function<void(const std::string& function)> break_at;
  // Everything of the debugger that a command must leave as it was, as text: the user's breakpoints and whether they
  // are enabled, settings, async mode, and, when a process is stopped, the selected thread and frame.
  std::function<std::string()> state;
  bool calls_return_strings = true;  // this debugger can call a function that returns a std::string
};

struct Check {
  std::string_view name;
  std::string_view arguments;  // the target's argument: the host sets it before the check
  void (*run)(Host&, Report&);
};

std::span<const Check> checks();

// Runs one check; its target is loaded in the debugger and not started. Returns what failed, a line each: empty when
// all holds.
std::string run(Host& host, std::string_view name);

}  // namespace flamb::contract
