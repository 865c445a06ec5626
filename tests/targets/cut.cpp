// The stack is cut above the trigger: what there is is written, and the report says why it is incomplete.
// flags: -fno-optimize-sibling-calls -fno-builtin
// builds: gcc-O0 clang-O2
//
// args: _exit
// flamb: capture work
// expect: invocation 1
//   work(int) 1
//   work(int);leaf(int) 1
//   work(int);leave_process(int) 1
//   work(int);leave_process(int);_exit 1
// incomplete: exited with status 3
//
// What runs at exit is below the call of exit, the program's own finalizers included.
// args: exit
// flamb: capture work
// expect: invocation 1
//   work(int) 1
//   work(int);leaf(int) 1
//   work(int);call_exit(int) 1
//   work(int);call_exit(int);exit 1
//   work(int);call_exit(int);exit;at_exit() 1
//   work(int);call_exit(int);exit;at_exit();leaf(int) 1
//   ? work(int);call_exit(int);exit;__do_global_dtors_aux 1
//   ? work(int);call_exit(int);exit;__do_global_dtors_aux;__cxa_finalize 1
//   ? work(int);call_exit(int);exit;__do_global_dtors_aux;deregister_tm_clones 1
//   ? work(int);call_exit(int);exit;_fini 1
// incomplete: exited with status 4
//
// args: abort
// flamb: capture work
// expect: invocation 1
//   work(int) 1
//   work(int);leaf(int) 1
//   work(int);call_abort(int) 1
//   work(int);call_abort(int);abort 1
// incomplete: SIGABRT
//
// both: kill
// args: crash
// flamb: capture work
// expect: invocation 1
//   work(int) 1
//   work(int);leaf(int) 1
//   work(int);crash(int) 1
// incomplete: SIGSEGV
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "target.h"

FUNCTION void leaf(int n) { sink = n; }

FUNCTION void at_exit() {
  leaf(0);
  sink = 0;
}

FUNCTION void leave_process(int n) {
  sink = n;
  _exit(n);
}

FUNCTION void call_exit(int n) {
  sink = n;
  exit(n);
}

FUNCTION void call_abort(int n) {
  sink = n;
  abort();
}

FUNCTION void crash(int n) {
  int* volatile nowhere = nullptr;
  *nowhere = n;
  sink = n;
}

static const char* way;

FUNCTION void work(int n) {
  leaf(n);
  switch (way[1]) {
    case 'e': leave_process(3); break;
    case 'x': call_exit(4); break;
    case 'b': call_abort(5); break;
    case 'r': crash(6); break;
  }
  leaf(n);
  sink = n;
}

int main(int count, char** words) {
  way = count > 1 ? words[1] : "none";
  atexit(at_exit);
  work(1);
  return 0;
}
