#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "code.h"
#include "debugger.h"
#include "profile.h"
#include "program/program.h"
#include "shadow_stack.h"

namespace flamb {

// Functions whose address is taken can be called by code out of scope (callbacks, signal handlers). Above this many
// they are only watched once there is a reason to: GDB writes all breakpoints anew at every stop.
inline constexpr std::size_t max_watched_ahead = 200;

// One invocation under way: from the trigger's entry to its exit, on one thread.
struct Invocation {
  Invocation(ThreadId on, CallTree::Options options) : thread(on) {
    profile.tree = CallTree(options);
    profile.parts.front().thread_id = on;
  }
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;

  ThreadId thread;
  Address entry = 0;  // the trigger's address; 0 for an apply, whose calls have no common root
  Address slot = 0;   // where the trigger's return address lies
  Address return_address = 0;
  std::uint64_t events = 0;  // what the collector has seen, for the line of progress
  Profile profile;
  Recording recording{profile.tree, profile.parts.front().timeline};
  ShadowStack stack{recording};
};

// Notes in a profile how and from what it was collected.
void set_origin(Profile& profile, std::string_view collector, Unit unit, const TargetInfo& target, Debugger& debugger);

// What a call goes to: the function in scope there, or what the import or the function out of scope is called.
struct Callee {
  const Function* function = nullptr;  // in scope, and entered at its start; null for one that is only a border frame
  FrameId frame = 0;
  const Function* resolver =
      nullptr;  // an IFUNC in scope: which function it stands for is not known before it is bound
};

// The invocations that are open, and the breakpoints of a capture: what a collector works with.
class Invocations {
 public:
  Invocations(Debugger& host, Program& symbols, Code& decoded) : debugger(host), program(symbols), code(decoded) {}
  ~Invocations();
  Invocations(const Invocations&) = delete;
  Invocations& operator=(const Invocations&) = delete;

  // The invocation that is open on a thread, or null.
  Invocation* open_on(ThreadId thread) const;

  // What a call of the code at `entry` goes to. If no module is known there, a library may have come since: they are
  // read anew.
  Callee callee(Address entry);

  // Sets a breakpoint that goes when the capture does. What fails ends the capture with that error.
  void watch(Address where, BreakpointHandler handler);

  bool is_watched(Address where) const { return watched_.contains(where); }

  // Something in a handler went wrong: the target stops, and the capture ends with this error.
  Verdict fail(Error error);

  Debugger& debugger;
  Program& program;
  Code& code;
  std::unordered_map<ThreadId, std::unique_ptr<Invocation>> open;
  std::unordered_set<Address> triggers;  // entries at which the capture itself has a breakpoint
  std::optional<Error> failure;          // the first
  bool catches_signals = false;          // the target has signal handlers
  std::function<void()> on_event;        // after each hit of a breakpoint
  // An invocation is over whose trigger did not return: something else runs in its caller. It is gone afterwards.
  std::function<Verdict(Invocation&)> on_left;

 private:
  std::vector<BreakpointId> breakpoints_;
  std::unordered_set<Address> watched_;
  std::unordered_set<Address> unknown_;  // addresses that are in no module, as far as was seen
};

// Sees the calls inside invocations, and feeds their shadow stacks. All of its methods run in handlers.
class Collector {
 public:
  virtual ~Collector() = default;

  virtual std::string_view name() const = 0;
  virtual Unit unit() const = 0;

  // An invocation begins: its thread is at the entry of the trigger, which is the root of its stack by now. (That of an
  // apply has no trigger: it begins before its calls, which `reach` will be called for.)
  virtual void begin(Invocation& invocation) = 0;

  // The thread is at the entry of a trigger inside an open invocation.
  virtual Verdict entered(Invocation& invocation, Address entry) = 0;

  // Sees to it that calls of the code at `entry` are seen.
  virtual void reach(Address entry) = 0;

  // The invocation ends here, at its return or before: what its thread has done up to now is to be counted.
  virtual void end(Invocation& invocation) = 0;

  // A signal is about to be delivered, whose handler may be anywhere.
  virtual void signalled() = 0;

  // Libraries were loaded or unloaded.
  virtual void libraries_changed() = 0;
};

std::unique_ptr<Collector> make_breakpoint_collector(Invocations& invocations);

// `unit` is instructions or calls.
std::unique_ptr<Collector> make_stepping_collector(Invocations& invocations, Unit unit);

}  // namespace flamb
