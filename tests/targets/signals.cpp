// A signal handler is a subtree where it ran; the program sees its signals as if no one watched.
// flags: -fno-optimize-sibling-calls -fno-builtin -U_FORTIFY_SOURCE
// gdb: handle SIGUSR1 SIGSEGV SIGALRM nostop noprint pass
// lldb: process handle SIGUSR1 SIGSEGV SIGALRM -s false -n false -p true
//
// flamb: capture work
// expect: invocation 1
//   work(int) 1
//   work(int);leaf(int) 2
//   work(int);raise 1
//   work(int);raise;on_signal(int) 1
//   work(int);raise;on_signal(int);leaf(int) 1
// stopped-in: main
//
// A fault of the program's own code: the handler repairs it and the instruction runs again.
// flamb: capture touch
// expect: invocation 1
//   touch(int) 1
//   touch(int);leaf(int) 2
//   touch(int);on_fault(int) 1
//   touch(int);on_fault(int);mprotect 1
// stopped-in: main
//
// A handler that leaves by siglongjmp.
// flamb: capture escape
// expect: invocation 1
//   escape(int) 1
//   escape(int);__sigsetjmp 1
//   escape(int);raise 1
//   escape(int);raise;on_alarm(int) 1
//   escape(int);raise;on_alarm(int);siglongjmp 1
//   escape(int);leaf(int) 1
// stopped-in: main
#include <sys/mman.h>

#include <csetjmp>
#include <csignal>

#include "target.h"

static sigjmp_buf there;
static volatile char* page;

FUNCTION void leaf(int n) { sink = n; }

FUNCTION void on_signal(int signal) {
  leaf(signal);
  sink = signal;
}

FUNCTION void on_fault(int signal) {
  mprotect(const_cast<char*>(page), 4096, PROT_READ | PROT_WRITE);
  sink = signal;
}

FUNCTION void on_alarm(int signal) {
  sink = signal;
  siglongjmp(there, 1);
}

FUNCTION void work(int n) {
  leaf(n);
  raise(SIGUSR1);
  leaf(n);
  sink = n;
}

FUNCTION void touch(int n) {
  leaf(n);
  *page = 1;
  leaf(n);
  sink = n;
}

FUNCTION void escape(int n) {
  if (sigsetjmp(there, 1) == 0) raise(SIGALRM);
  leaf(n);
  sink = n;
}

int main() {
  signal(SIGUSR1, on_signal);
  signal(SIGSEGV, on_fault);
  signal(SIGALRM, on_alarm);
  page = static_cast<volatile char*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  work(1);
  touch(2);
  escape(3);
  return 0;
}
