#include "cpu_affinity.h"

#include <unistd.h>

#include <algorithm>

#include "proc.h"

namespace flamb {

CpuAffinity::CpuAffinity(pid_t target) {
  CPU_ZERO(&one_);
  const int cpu = sched_getcpu();
  if (cpu < 0) return;
  CPU_SET(cpu, &one_);
  pin(target);
  pin(getpid());
  const pid_t tracer = static_cast<pid_t>(proc_status(target, "TracerPid").value_or(0));
  if (tracer != 0 && tracer != getpid()) pin(tracer);
}

CpuAffinity::~CpuAffinity() {
  for (const Process& process : processes_) {
    for (const pid_t tid : proc_threads(process.pid)) {
      const auto before =
          std::find_if(threads_.begin(), threads_.end(), [&](const Thread& each) { return each.tid == tid; });
      const cpu_set_t& mask = before != threads_.end() ? before->mask : process.mask;
      sched_setaffinity(tid, sizeof(mask), &mask);
    }
  }
}

void CpuAffinity::pin(pid_t pid) {
  Process process{pid, {}};
  if (sched_getaffinity(pid, sizeof(process.mask), &process.mask) != 0) return;
  processes_.push_back(process);
  for (const pid_t tid : proc_threads(pid)) {
    Thread thread{tid, {}};
    if (sched_getaffinity(tid, sizeof(thread.mask), &thread.mask) != 0) continue;
    if (sched_setaffinity(tid, sizeof(one_), &one_) == 0) threads_.push_back(thread);
  }
}

}  // namespace flamb
