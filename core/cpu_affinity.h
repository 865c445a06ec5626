#pragma once

#include <sched.h>
#include <sys/types.h>

#include <vector>

namespace flamb {

// Keeps the target, what traces it and this process on one CPU while it lives: on a virtual machine a stop then costs a
// half to a third, because no wake-up crosses CPUs. Every thread's affinity is put back in the end; threads that the
// target has started meanwhile get their process's.
class CpuAffinity {
 public:
  // A process on this machine. What cannot be pinned is left alone: this is about speed only.
  explicit CpuAffinity(pid_t target);
  ~CpuAffinity();
  CpuAffinity(const CpuAffinity&) = delete;
  CpuAffinity& operator=(const CpuAffinity&) = delete;

 private:
  struct Process {
    pid_t pid;
    cpu_set_t mask;  // of its first thread
  };
  struct Thread {
    pid_t tid;
    cpu_set_t mask;
  };
  void pin(pid_t pid);

  cpu_set_t one_;
  std::vector<Process> processes_;
  std::vector<Thread> threads_;
};

}  // namespace flamb
