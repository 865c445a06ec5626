#pragma once

#include <lldb/API/LLDB.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "debugger.h"

namespace flamb {

// Our breakpoints in one target: one of LLDB's an address, with all handlers of that address behind it.
class Breakpoints {
 public:
  // `interrupted` says whether a hit must end the run whatever its handlers say.
  Breakpoints(lldb::SBTarget target, std::function<bool()> interrupted)
      : target_(std::move(target)), interrupted_(std::move(interrupted)) {}
  ~Breakpoints();
  Breakpoints(const Breakpoints&) = delete;
  Breakpoints& operator=(const Breakpoints&) = delete;

  Result<BreakpointId> add(Address where, BreakpointHandler handler);
  void remove(BreakpointId id);

  // In a handler: see Debugger::jump. Not where one of the user's breakpoints is: it would be passed over, or shown
  // elsewhere.
  bool jump(ThreadId thread, Address to);

  // In a handler: the thread goes to `where`, with this stack pointer. If that is a hit that was told, it is told no
  // more.
  void comes_back(ThreadId thread, Address where, Address stack);

  bool owns(lldb::break_id_t id) const { return sites_by_lldb_id_.contains(id); }

  // Runs the handlers of a thread that is stopped at one of our breakpoints, unless LLDB has done so for this stop:
  // it runs no callbacks inside an expression.
  void dispatch(lldb::SBProcess& process, lldb::SBThread& thread, lldb::break_id_t id);

  // Have handlers run in the stop that the process is in?
  bool has_run_in_stop(lldb::SBProcess& process) const;

  // The first thread since `forget_requests` for which a handler said `Verdict::stop`.
  std::optional<ThreadId> requested() const { return requested_; }
  // What a handler threw in that time: it must not pass through LLDB.
  const std::string& failure() const { return failure_; }
  void forget_requests();

  // While an expression runs LLDB calls nobody back: then the stops are dispatched.
  void set_in_expression(bool in_expression) { in_expression_ = in_expression; }

  // Where LLDB has a breakpoint in the code: ours, the user's enabled ones and its own.
  std::vector<Address> all_addresses(lldb::SBDebugger debugger);

  // The thread whose handlers run now; null outside of handlers. Its innermost frame is kept, for its registers.
  lldb::SBFrame* current_frame(ThreadId thread);

 private:
  struct Watch {
    BreakpointId id = 0;
    BreakpointHandler handler;
  };
  struct Hit {
    Address stack = 0;
    bool comes_again = false;
  };
  struct Site {
    Breakpoints* owner = nullptr;
    Address where = 0;
    lldb::SBBreakpoint breakpoint;
    std::vector<std::shared_ptr<Watch>> watches;
    std::unordered_map<ThreadId, Hit> hits;  // the last of each thread
  };

  static bool on_hit(void* site, lldb::SBProcess& process, lldb::SBThread& thread, lldb::SBBreakpointLocation&);
  bool run_handlers(Site& site, lldb::SBProcess& process, lldb::SBThread& thread);
  static bool is_told_again(Site& site, ThreadId thread, Address stack);
  bool ask(Watch& watch, ThreadId thread);
  const std::unordered_set<Address>& users();

  lldb::SBTarget target_;
  std::function<bool()> interrupted_;
  std::unordered_map<Address, std::unique_ptr<Site>> sites_;
  std::unordered_map<lldb::break_id_t, Site*> sites_by_lldb_id_;
  std::unordered_map<BreakpointId, Address> addresses_;
  std::unordered_map<ThreadId, std::uint32_t> last_stops_;  // LLDB's number of the stop a thread's handlers last ran in
  bool in_expression_ = false;
  BreakpointId next_id_ = 1;
  std::optional<ThreadId> requested_;
  std::string failure_;
  ThreadId current_thread_ = 0;
  lldb::SBFrame current_frame_;
  std::optional<Address> jump_;                       // of the current thread, after all its handlers
  std::optional<std::unordered_set<Address>> users_;  // where the user's breakpoints are, in this run
};

}  // namespace flamb
