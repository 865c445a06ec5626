#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/layout.h"
#include "collector.h"
#include "tracepoints/stub_library.h"
#include "tracepoints/target_memory.h"
#include "tracepoints/tick_clock.h"
#include "tracepoints/traced_functions.h"

namespace flamb {

// Jumps at the entries of the target's functions, to hooks of the agent in it, for the length of a capture.
//
// All methods need a stopped target. What `plant` has changed `lift` changes back: all code, and the return addresses
// on the stacks. The agent stays loaded, and nothing calls it.
class Tracepoints {
 public:
  struct Settings {
    std::uint64_t count = 1;    // invocations
    ThreadId apply_thread = 0;  // the one whose calls are an apply's; 0 for a capture
    std::size_t max_depth = 0;
    std::size_t max_nodes = 0;
  };

  Tracepoints(Invocations& invocations, pid_t pid) : invocations_(invocations), pid_(pid) {}
  ~Tracepoints();
  Tracepoints(const Tracepoints&) = delete;
  Tracepoints& operator=(const Tracepoints&) = delete;

  // Loads the agent and patches the functions. On an error, whose message says why it is not possible here, everything
  // is as before but for the agent.
  Result<void> plant(const std::vector<Address>& triggers, const Settings& settings);

  // Where a thread arrives when all invocations that were asked for are over.
  Address done() const { return agent_.done; }

  // Puts everything back. Where threads are in the hooks they go on to where these lead.
  Result<void> lift();

  // After `lift`, where the target can be made to call a function: the stubs are unloaded.
  void unload_stubs();

  // Takes note of what the agent has recorded up to now, and of the calls that are open. To be called in a handler too.
  Result<void> observe();

  // After `lift` or `observe`.
  const TracedFunctions& functions() const { return functions_; }
  // The functions that could not be patched, by their numbers, and why.
  const std::map<std::uint32_t, std::string>& refused() const { return refused_; }
  const agent::Agent& agent() const { return agent_; }
  const TargetMemory& memory() const { return *memory_; }
  std::vector<agent::Thread> threads() const;
  // Was the thread still there when the target stopped?
  bool is_alive(const agent::Thread& thread) const;
  // The calls of a thread that were open when the target stopped, at this tick: innermost first.
  const std::vector<agent::Record>& open_calls(const agent::Thread& thread) const;
  std::uint64_t stopped_at() const { return stopped_at_; }
  double nanoseconds_per_tick() const { return nanoseconds_per_tick_; }
  // What a hook takes, in nanoseconds a call.
  std::uint64_t hook_cost() const;

 private:
  struct Stubs {
    std::unique_ptr<StubLibrary> library;
    std::string path;
    AddressRange range;
    Address handle = 0;  // of dlopen
  };

  Result<void> load_agent();
  Result<void> find_agent();
  Result<void> make_directory();
  Result<void> load_stubs();
  Result<void> evaluate(const std::string& expression, std::string_view what);
  Result<void> load(const std::string& path, Address handle);
  Result<void> configure(const Settings& settings);
  Result<std::map<Address, std::string_view>> occupied();
  std::string_view why_not(const StubLibrary::Patch& patch, const std::map<Address, std::string_view>& places) const;
  Result<void> patch();
  void restore_code();
  void tell_of_code();
  void note_time();
  Result<void> leave_hooks(ThreadId thread);
  Result<void> observe_stacks(bool unhooks);
  void unhook(Address low, Address return_address);
  bool is_ours(Address code) const;

  Invocations& invocations_;
  pid_t pid_;
  std::optional<TargetMemory> memory_;
  TracedFunctions functions_;
  std::string directory_;  // of the stubs' files
  std::vector<Stubs> stubs_;
  std::map<std::uint32_t, std::string> refused_;
  std::vector<StubLibrary::Patch> patches_;             // that are in the code
  std::map<Address, std::vector<agent::Record>> open_;  // by the thread's `Thread::hot`; of those that are there
  std::vector<pid_t> alive_;                            // threads, when the target stopped
  std::vector<MemoryRange> changed_slots_;
  Address agent_address_ = 0;
  agent::Agent agent_{};
  AddressRange agent_code_;
  std::optional<TickClock> clock_;
  std::uint64_t stopped_at_ = 0;
  double nanoseconds_per_tick_ = 0;
  std::size_t region_ = 0;  // of stack_regions: where a slot was found last
  bool is_planted_ = false;
};

}  // namespace flamb
