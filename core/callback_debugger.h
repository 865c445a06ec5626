#pragma once

#include <pthread.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "c_api.h"
#include "debugger.h"
#include "native_target.h"

namespace flamb {

// A host debugger behind a table of C functions. What happens at every breakpoint is done here, without a callback,
// where the target is one that NativeTarget can read.
class CallbackDebugger final : public Debugger {
 public:
  // The calling thread is the one on which the callbacks run.
  explicit CallbackDebugger(const flamb_callbacks& callbacks) : callbacks_(callbacks), thread_(pthread_self()) {}

  std::string name() override { return callbacks_.debugger_name; }
  Result<TargetInfo> target() override;
  Result<std::vector<Module>> modules() override;
  Result<std::vector<ThreadId>> threads() override;
  Result<ThreadId> selected_thread() override;
  Result<std::uint64_t> read_register(ThreadId thread, Register which) override;
  Result<void> read_memory(Address from, std::span<std::byte> bytes) override;
  Result<std::vector<Address>> callers(ThreadId thread, std::size_t limit) override;
  Result<BreakpointId> set_breakpoint(Address where, BreakpointHandler handler) override;
  void remove_breakpoint(BreakpointId id) override;
  Result<std::vector<Address>> breakpoint_addresses() override;
  void memory_changed(std::span<const MemoryRange> where) override;
  Result<Stop> launch() override;
  Result<Stop> resume() override;
  Result<Stop> step(ThreadId thread) override;
  Result<CallOutcome> call(const std::string& expression, const CallObserver& calling, OtherThreads others) override;
  Result<void> expect_return_value(ThreadId thread) override;
  Result<std::string> return_value(ThreadId thread, Address function) override;
  Result<void> suspend_user_breakpoints(bool suspend) override;
  void interrupt() override;
  bool interrupt_requested() override;
  void print(std::string_view text) override;
  void progress(std::string_view line) override;

  // What the host tells while a callback runs.
  bool hit(BreakpointId id, ThreadId thread) noexcept;
  void calling(ThreadId thread, Address address) noexcept;
  void note_interrupt() noexcept;

  // What the callback that runs now has replied.
  struct Reply {
    std::optional<Error> error;
    std::optional<TargetInfo> target;
    std::optional<Stop> stop;
    std::vector<std::uint64_t> numbers;
    std::vector<Module> modules;
    std::string text;
  };
  Reply& reply() { return reply_; }

 private:
  struct Breakpoint {
    Address where = 0;
    BreakpointHandler handler;
    std::unordered_map<ThreadId, GeneralRegisters> last_hits;
  };

  template <class... Parameters, class... Arguments>
  Result<void> ask(int32_t (*callback)(Parameters...), Arguments... arguments);
  template <class... Parameters, class... Arguments>
  Result<Stop> run(int32_t (*callback)(Parameters...), Arguments... arguments);
  Result<std::uint64_t> number(std::size_t index) const;
  Stop stop_of(Stop reported);
  void note_if_interrupted(const Stop& reported);
  NativeTarget* native();
  void has_run();
  bool is_told_again(Breakpoint& breakpoint, ThreadId thread);
  Result<void> what_was_thrown();

  const flamb_callbacks& callbacks_;
  const pthread_t thread_;
  Reply reply_;

  std::unordered_map<BreakpointId, Breakpoint> breakpoints_;  // node-based: a handler may add one while it runs
  BreakpointId last_id_ = 0;
  ThreadId hit_thread_ = 0;  // in a handler: the thread, and where
  Address hit_where_ = 0;    // the last hit's, afterwards
  ThreadId stepping_ = 0;    // in a step: the thread
  const CallObserver* observer_ = nullptr;
  std::string thrown_;  // by a handler or an observer

  std::unique_ptr<NativeTarget> native_;
  bool native_known_ = false;  // whether there is a NativeTarget has been found out
  std::vector<Module> seen_modules_;
  bool gets_signals_ = false;  // one has been seen
  int vain_questions_ = 0;

  bool stop_requested_ = false;
  std::atomic<bool> running_ = false;
  std::atomic<bool> interrupt_pending_ = false;  // not yet reported as a stop
  std::atomic<bool> interrupt_sent_ = false;     // by interrupt(): the Ctrl-C that comes is not the user's
  bool user_interrupted_ = false;                // ever, in this session
};

}  // namespace flamb
