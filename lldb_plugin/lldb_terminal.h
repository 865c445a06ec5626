#pragma once

#include <lldb/API/LLDB.h>
#include <termios.h>

#include <string>
#include <thread>

namespace flamb {

// Gives what is typed to the target while it waits for input, as LLDB does with a target that it started: it may need a
// line before it calls the function. What is typed while the target does not wait is left for LLDB's prompt. Does
// nothing where LLDB has no terminal, or the target has its own.
class TerminalInput {
 public:
  TerminalInput(lldb::SBDebugger debugger, const lldb::SBProcess& process);
  ~TerminalInput();
  TerminalInput(const TerminalInput&) = delete;
  TerminalInput& operator=(const TerminalInput&) = delete;

 private:
  void forward();
  bool is_over(int milliseconds) const;

  lldb::SBProcess process_;
  std::string input_;  // the target's terminal, whose other end is LLDB's
  int terminal_ = -1;
  int end_ = -1;  // becomes readable when the forwarding is over
  termios before_{};
  std::thread thread_;
};

}  // namespace flamb
