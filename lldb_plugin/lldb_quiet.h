#pragma once

#include <lldb/API/LLDB.h>

#include <string>

namespace flamb {

// Until LLDB's event thread has seen all events sent so far. It takes them in order and one at a time: when one that is
// sent now is taken, those before are done with. A host without such a thread waits half a second.
void wait_for_event_thread(lldb::SBDebugger debugger);

// Keeps LLDB from telling the user of a stop that is not theirs to see. When an expression is interrupted, LLDB's event
// thread prints the stop as it does any other, and no part of the API can ask it not to. So what LLDB writes while this
// object lives is held back; at its end, when the event thread has caught up, it is written but for the stop.
class QuietStop {
 public:
  explicit QuietStop(lldb::SBDebugger debugger);
  ~QuietStop();
  QuietStop(const QuietStop&) = delete;
  QuietStop& operator=(const QuietStop&) = delete;

 private:
  std::string held_back() const;

  lldb::SBDebugger debugger_;
  int output_ = -1;    // LLDB's output, which is another file now
  int terminal_ = -1;  // what LLDB's output was
  int held_ = -1;      // the other file
};

}  // namespace flamb
