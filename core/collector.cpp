#include "collector.h"

#include <algorithm>
#include <iterator>

namespace flamb {

void set_origin(Profile& profile, std::string_view collector, Unit unit, const TargetInfo& target, Debugger& debugger) {
  profile.collector = collector;
  profile.unit = unit;
  profile.program = target.program;
  profile.pid = target.pid;
  profile.debugger = debugger.name();
}

Invocations::~Invocations() {
  for (const BreakpointId id : breakpoints_) debugger.remove_breakpoint(id);
}

Invocation* Invocations::open_on(ThreadId thread) const {
  const auto found = open.find(thread);
  return found != open.end() ? found->second.get() : nullptr;
}

void Invocations::watch(Address where, BreakpointHandler handler) {
  const auto id = debugger.set_breakpoint(where, [this, handler = std::move(handler)](ThreadId thread) {
    const Verdict verdict = handler(thread);
    if (on_event) on_event();
    return failure ? Verdict::stop : verdict;
  });
  if (id) {
    breakpoints_.push_back(*id);
    watched_.insert(where);
  } else {
    fail(id.error());
  }
}

Verdict Invocations::fail(Error error) {
  if (!failure) failure = std::move(error);
  return Verdict::stop;
}

namespace {

// The toolchain's own code in every module, which the dynamic loader runs: not the program's.
bool is_startup_code(const Function& function) {
  static constexpr std::string_view names[] = {
      "_init", "_fini", "_start", "frame_dummy", "register_tm_clones", "deregister_tm_clones", "__do_global_dtors_aux"};
  return std::find(std::begin(names), std::end(names), function.linkage_name) != std::end(names);
}

}  // namespace

Callee Invocations::callee(Address entry) {
  if (!program.module_at(entry) && unknown_.insert(entry).second) {
    if (const auto refreshed = program.refresh(); !refreshed) fail(refreshed.error());
  }
  if (const std::string_view import = program.imported_at(entry); !import.empty()) {
    const Function* definition = program.definition(import);
    if (definition != nullptr && definition->is_ifunc) return {nullptr, program.import_frame(import), definition};
    if (definition != nullptr) return {definition, program.frame(*definition), nullptr};
    return {nullptr, program.import_frame(import), nullptr};
  }
  const Function* function = program.function_at(entry);
  if (function == nullptr) return {nullptr, program.unknown_frame(entry), nullptr};
  const bool is_own = program.in_scope(function->module) && function->start == entry && !function->is_ifunc &&
                      !is_startup_code(*function);
  return {is_own ? function : nullptr, program.frame(*function), nullptr};
}

}  // namespace flamb
