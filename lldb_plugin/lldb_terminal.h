#pragma once

#include <lldb/API/LLDB.h>
#include <termios.h>

#include <thread>

namespace flamb {

// Gives what is typed to the target, as LLDB does while a target that it started runs at the terminal: a target may
// wait for input before it calls the function. Does nothing where LLDB has no terminal, or the target has its own.
class TerminalInput {
 public:
  TerminalInput(lldb::SBDebugger debugger, const lldb::SBProcess& process);
  ~TerminalInput();
  TerminalInput(const TerminalInput&) = delete;
  TerminalInput& operator=(const TerminalInput&) = delete;

 private:
  void forward();

  lldb::SBProcess process_;
  int terminal_ = -1;
  int end_ = -1;  // becomes readable when the forwarding is over
  termios before_{};
  std::thread thread_;
};

}  // namespace flamb
