#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "result.h"

// The contract between flamb's core and a host debugger. LLDB and GDB each have one adapter that
// implements `Debugger`; the collectors know nothing else of them.
//
// The model is all-stop and synchronous: while `launch`, `resume` or `call` runs, all threads of
// the target run; when it returns, all are stopped. Addresses are load addresses. Threads are named by
// the operating system's id.
//
// What an adapter owes, on every path out of a command:
//  - whatever it changed in the debugger (settings, async mode, notifications) is as it was before;
//  - a stop that flamb did not ask for (the user's breakpoint, a signal, an exit) is reported, never swallowed;
//  - no exception crosses this interface.
namespace flamb {

using Address = std::uint64_t;
using ThreadId = std::uint64_t;
using BreakpointId = std::uint64_t;

// x86-64 registers in the processor's own numbering (the number in an instruction's encoding).
enum class Register : std::uint8_t {
  rax,
  rcx,
  rdx,
  rbx,
  rsp,
  rbp,
  rsi,
  rdi,
  r8,
  r9,
  r10,
  r11,
  r12,
  r13,
  r14,
  r15,
  rip,
  rflags,
};

// One file mapped into the target.
struct Module {
  std::string path;         // where the file can be read on this machine
  Address load_bias = 0;    // load address minus the address in the file
  bool is_program = false;  // the main executable, as opposed to a library
};

enum class TargetState {
  none,         // no program is loaded in the debugger
  not_started,  // a program, but no process
  stopped,      // a live process
  exited,       // the process has ended
  core_file,    // a post-mortem image: nothing can run
};

// A stretch of the target's memory.
struct MemoryRange {
  Address from = 0;
  std::size_t size = 0;
};

struct TargetInfo {
  TargetState state = TargetState::none;
  std::string program;    // path of the main executable, empty if there is none
  std::int64_t pid = 0;   // 0 without a process
  bool is_local = false;  // the process runs on this machine: /proc and its CPU affinity can be used
};

struct Stop {
  enum class Kind {
    requested,    // one of our breakpoint handlers said `Verdict::stop`
    modules,      // libraries were loaded or unloaded (and `modules()` shows it)
    user,         // the user's own breakpoint, watchpoint or catchpoint
    signal,       // a signal that the debugger is set to stop for; resuming delivers it if it is set to pass
    interrupted,  // Ctrl-C in the debugger, or `interrupt()`
    exited,       // the process ended: `code` is its exit status
    killed,       // the process ended by signal `code`
    exec,         // the program replaced itself
    lost,         // connection or target gone, or the adapter cannot say
  };
  Kind kind = Kind::lost;
  ThreadId thread = 0;      // where it happened, 0 when there is none
  int code = 0;             // signal number or exit status
  std::string description;  // as the debugger would say it: "breakpoint 1.1", "SIGSEGV"
};

// Is the process, or the program that it ran, gone at such a stop?
constexpr bool has_ended(Stop::Kind kind) {
  return kind == Stop::Kind::exited || kind == Stop::Kind::killed || kind == Stop::Kind::exec ||
         kind == Stop::Kind::lost;
}

// What a breakpoint handler decides, inside the host debugger's own stop.
enum class Verdict {
  go_on,  // the target goes on as if nothing had happened
  stop,   // `resume` or `call` returns with Stop::Kind::requested
};

// Called once for each thread that reaches the breakpoint. It may call read_register, read_memory,
// modules, set_breakpoint and jump; nothing else.
using BreakpointHandler = std::function<Verdict(ThreadId)>;

// What `call` reports when it is over.
struct CallOutcome {
  bool finished = false;
  std::string value;  // finished: the value as this debugger prints it, empty for void
  Stop stop;          // not finished: why
};

class Debugger {
 public:
  virtual ~Debugger() = default;

  // The host's name and version: "LLDB 19.1.7", "GDB 13.1".
  virtual std::string name() = 0;

  virtual Result<TargetInfo> target() = 0;

  // The files mapped into the target; for a program that is not started, the program alone with
  // load bias 0. Without modules that have no file (the vdso, code made at run time).
  virtual Result<std::vector<Module>> modules() = 0;

  // The live threads, in the debugger's order.
  virtual Result<std::vector<ThreadId>> threads() = 0;

  // The thread the user has selected.
  virtual Result<ThreadId> selected_thread() = 0;

  // The register's value in the innermost frame of a stopped thread. In a handler, rip is the breakpoint's address.
  virtual Result<std::uint64_t> read_register(ThreadId thread, Register which) = 0;

  // Fills `bytes` from the target's memory as the program would see it (no breakpoint's bytes), or fails whole.
  virtual Result<void> read_memory(Address from, std::span<std::byte> bytes) = 0;

  // The return addresses of the frames above the innermost one, nearest first (--callers), at most `limit`.
  virtual Result<std::vector<Address>> callers(ThreadId thread, std::size_t limit) = 0;

  // An internal breakpoint: not shown to the user, all threads. Two at one address are independent.
  virtual Result<BreakpointId> set_breakpoint(Address where, BreakpointHandler handler) = 0;

  // In a handler that lets the thread go on: it goes on at an address inside a function instead of at the breakpoint's
  // instruction, which spares the host the step over its breakpoint. False where that cannot be or is no gain: then the
  // thread runs the instruction.
  virtual bool jump(ThreadId /*thread*/, Address /*to*/) { return false; }

  // Not to be called from a handler. Removing one that is gone is no error.
  virtual void remove_breakpoint(BreakpointId id) = 0;

  // Where the host has a software breakpoint in the target's code, or will have one when the target runs: the user's
  // enabled ones, the host's own (the dynamic loader's, say) and flamb's. In no order; an address may come twice.
  virtual Result<std::vector<Address>> breakpoint_addresses() = 0;

  // The target's memory was changed behind the host's back while it is stopped: the host forgets what it has cached of
  // these ranges, and all frames it has unwound. The selected thread and frame stay. Not to be called from a handler.
  virtual void memory_changed(std::span<const MemoryRange> where) = 0;

  // Starts the program as `run` would, with the user's arguments and settings, and stops it before its
  // first instruction (the dynamic loader's, where there is one): Stop::Kind::requested. TargetState::not_started or
  // exited.
  virtual Result<Stop> launch() = 0;

  // Lets all threads run until a stop. The stop of a thread which a handler let go on is not one.
  virtual Result<Stop> resume() = 0;

  // Runs one instruction of a thread, while all others stay stopped: Stop::Kind::requested when it has. Where a
  // breakpoint lies on it, that is the program's own instruction. A breakpoint of ours which the thread gets to may be
  // hit by the step, or else by the next run; the handler's verdict does not count in the step. The user sees nothing
  // of it, and the selected thread and frame stay. Any other kind of stop is what it would be of `resume`, with its
  // thread selected: then the instruction may not have been run. Not to be called from a handler.
  virtual Result<Stop> step(ThreadId thread) = 0;

  // Evaluates an expression in the selected frame as `print` (GDB) or `expr` (LLDB) would. `calling` runs before
  // the expression's code does, once or once a call: with the thread and the address of the code about to run there
  // (the function in GDB, LLDB's code for the expression in LLDB). It may do what a handler may. A syntax error or the
  // like is an Error with the debugger's own words. When the call is cut short (`finished` is false) the target is left
  // where it stopped, as the debugger does it.
  // With OtherThreads::stay only the selected thread runs (it must need no lock that another one holds), and the
  // expression is C, whatever language the frame's code is in.
  using CallObserver = std::function<void(ThreadId, Address)>;
  enum class OtherThreads { run, stay };
  virtual Result<CallOutcome> call(const std::string& expression, const CallObserver& calling,
                                   OtherThreads others = OtherThreads::run) = 0;

  // To be called in the handler at a function's entry, for a `return_value` to come.
  virtual Result<void> expect_return_value(ThreadId thread) = 0;

  // The value that the function entered at `function` has just returned on `thread`, which is stopped at its return
  // address: as this debugger prints a value, empty for void.
  virtual Result<std::string> return_value(ThreadId thread, Address function) = 0;

  // Switches the user's enabled breakpoints and watchpoints off, and on again (--ignore-breakpoints).
  virtual Result<void> suspend_user_breakpoints(bool suspend) = 0;

  // Asks the running target to stop: `resume`, `step` or `call` then reports Stop::Kind::interrupted. From any thread.
  virtual void interrupt() = 0;

  // Has the user pressed Ctrl-C since the command began? For loops that do not run the target.
  virtual bool interrupt_requested() = 0;

  // Writes to the user: whole lines of output, or warnings.
  virtual void print(std::string_view text) = 0;

  // Shows one line of progress in place of the last one; does nothing where output is not a terminal. Empty clears it.
  virtual void progress(std::string_view line) = 0;
};

}  // namespace flamb
