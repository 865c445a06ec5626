#pragma once

#include <lldb/API/LLDB.h>

#include <map>
#include <optional>
#include <set>

#include "debugger.h"
#include "lldb_breakpoints.h"

namespace flamb {

// Tells what a stop of the target means.
class StopReader {
 public:
  // To be made before the target runs: notes how often the user's breakpoints were hit so far, and the signals to come.
  // `is_local`: /proc of this machine tells of the target.
  StopReader(lldb::SBTarget target, Breakpoints& ours, bool is_local);

  // Why the target is stopped or gone. Nothing if all that happened were breakpoints of ours whose handlers let the
  // target go on. Runs handlers which LLDB has not run. What `except` stopped for is not looked at.
  std::optional<Stop> read(lldb::SBProcess& process, bool interrupted, ThreadId except = 0);
  // The same of a step of one instruction, of which LLDB has run the handlers.
  Stop read_step(lldb::SBProcess& process, ThreadId stepped, bool interrupted);

 private:
  std::optional<Stop> read_state(lldb::SBProcess& process) const;
  void note_signals(lldb::SBProcess& process, bool is_local);
  Stop read_end(lldb::SBProcess& process) const;
  bool read_threads(lldb::SBProcess& process, bool interrupted, ThreadId except);
  void read_thread(lldb::SBProcess& process, lldb::SBThread& thread, bool interrupted);
  void read_breakpoint(lldb::SBProcess& process, lldb::SBThread& thread);
  bool is_hit_of_user(lldb::break_id_t id, bool shared);
  void note(Stop::Kind kind, lldb::SBThread& thread, int code = 0);

  lldb::SBTarget target_;
  Breakpoints& ours_;
  std::map<lldb::break_id_t, std::uint32_t> hit_counts_;
  std::set<int> deadly_signals_;  // to be delivered when the target runs, and not handled by it
  std::optional<Stop> found_;
};

std::string stop_description(lldb::SBThread& thread);

}  // namespace flamb
