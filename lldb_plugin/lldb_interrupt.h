#pragma once

#include <lldb/API/LLDB.h>
#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace flamb {

// Ctrl-C, and `interrupt()` from another thread, while a command of ours blocks LLDB's own command loop. LLDB notes the
// key but can stop no target that a synchronous command runs, and would cut the command's output short. So SIGINT is
// ours for as long as this object lives. At most one exists at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Asks for a stop of the target: pending until `reported`. From any thread.
  void request();
  bool pending() const { return pending_.load(); }
  void reported() { pending_ = false; }

  // Has Ctrl-C been pressed in this object's time?
  bool pressed() const { return pressed_.load(); }

  // The target runs between these: a request stops it.
  void run_begins(const lldb::SBProcess& process);
  void run_ends();

 private:
  static void on_signal(int);
  void watch();
  void wake();

  std::atomic<bool> pending_ = false;
  std::atomic<bool> pressed_ = false;
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;  // guards process_ and running_
  lldb::SBProcess process_;
  bool running_ = false;
  int wake_fd_ = -1;
  struct sigaction previous_ {};
  std::thread watcher_;
};

}  // namespace flamb
