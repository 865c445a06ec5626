#include "lldb_debugger.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <thread>

#include "lldb_quiet.h"
#include "lldb_stop.h"
#include "lldb_version.h"
#include "proc.h"

namespace flamb {

namespace {

constexpr std::array<const char*, 18> kRegisterNames{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8",
                                                     "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip", "rflags"};

std::string path_of(const lldb::SBFileSpec& file) {
  std::array<char, 4096> path{};
  file.GetPath(path.data(), path.size());
  return path.data();
}

// What the file is mapped at, less its addresses; nothing if it is not mapped.
std::optional<Address> load_bias(lldb::SBModule& module, lldb::SBTarget& target) {
  for (std::size_t i = 0; i < module.GetNumSections(); ++i) {
    lldb::SBSection section = module.GetSectionAtIndex(i);
    const Address loaded = section.GetLoadAddress(target);
    if (loaded != LLDB_INVALID_ADDRESS) return loaded - section.GetFileAddress();
  }
  return std::nullopt;
}

bool is_core_file(lldb::SBProcess& process) {
  const char* plugin = process.GetPluginName();
  const std::string_view name = plugin ? plugin : "";
  return name.find("core") != name.npos || name == "minidump";
}

std::uint64_t frame_register(lldb::SBFrame& frame, Register which, lldb::SBError& error) {
  // The three that every stop's packet brings along need no look-up by name, which is slow.
  switch (which) {
    case Register::rsp: return frame.GetSP();
    case Register::rbp: return frame.GetFP();
    case Register::rip: return frame.GetPC();
    default: break;
  }
  lldb::SBValue value = frame.FindRegister(kRegisterNames.at(static_cast<std::size_t>(which)));
  if (!value.IsValid()) error.SetErrorString("LLDB has no such register here");
  return value.GetValueAsUnsigned(error, 0);
}

}  // namespace

LldbDebugger::LldbDebugger(lldb::SBDebugger debugger, lldb::SBCommandReturnObject& result)
    : debugger_(debugger),
      result_(result),
      synchronous_(debugger),
      target_(debugger.GetSelectedTarget()),
      breakpoints_(target_, [this] { return interrupts_.pending(); }),
      signal_returns_(target_, breakpoints_) {
  FILE* err = debugger_.GetErrorFileHandle();
  shows_progress_ = err && isatty(fileno(err)) == 1;
  wait_for_end();
  if (has_process()) watch_modules();
}

LldbDebugger::~LldbDebugger() {
  progress({});
  std::ignore = suspend_user_breakpoints(false);
}

std::string LldbDebugger::name() { return "LLDB " + host_version(); }

bool LldbDebugger::has_process() {
  const lldb::StateType state = process().GetState();
  return process().IsValid() && state != lldb::eStateInvalid && state != lldb::eStateUnloaded &&
         state != lldb::eStateExited && state != lldb::eStateDetached;
}

bool LldbDebugger::is_local() {
  // A server on this machine may serve a process elsewhere: what /proc says decides.
  struct stat running {};
  struct stat program {};
  const std::string link = fmt::format("/proc/{}/exe", process().GetProcessID());
  return stat(link.c_str(), &running) == 0 && stat(path_of(target_.GetExecutable()).c_str(), &program) == 0 &&
         running.st_dev == program.st_dev && running.st_ino == program.st_ino;
}

// A process that was killed a moment ago counts as stopped until LLDB's threads have passed on its end.
void LldbDebugger::wait_for_end() {
  using namespace std::chrono_literals;
  const auto give_up = std::chrono::steady_clock::now() + 300ms;
  lldb::SBProcess current = process();
  while (current.GetState() == lldb::eStateStopped && !is_core_file(current) &&
         !is_held(static_cast<pid_t>(current.GetProcessID())) && std::chrono::steady_clock::now() < give_up) {
    wait_for_event_thread(debugger_);
    std::this_thread::sleep_for(1ms);
  }
}

Result<TargetInfo> LldbDebugger::target() {
  TargetInfo info;
  if (!target_.IsValid()) return info;
  info.program = path_of(target_.GetExecutable());
  lldb::SBProcess current = process();
  if (!has_process()) {
    const bool exited = current.IsValid() && current.GetState() == lldb::eStateExited;
    info.state = exited ? TargetState::exited : TargetState::not_started;
    if (info.program.empty()) info.state = TargetState::none;
    return info;
  }
  if (lldb::SBDebugger::StateIsRunningState(current.GetState())) {
    return fail(Fault::user, "the target is running", "stop it first: 'process interrupt'");
  }
  info.state = is_core_file(current) ? TargetState::core_file : TargetState::stopped;
  info.pid = static_cast<std::int64_t>(current.GetProcessID());
  info.is_local = info.state == TargetState::stopped && is_local();
  return info;
}

Result<std::vector<Module>> LldbDebugger::modules() {
  std::vector<Module> modules;
  const lldb::SBFileSpec program = target_.GetExecutable();
  const std::string program_path = path_of(program);
  if (!has_process()) {
    if (!program_path.empty()) modules.push_back({program_path, 0, true});
    return modules;
  }
  for (std::uint32_t i = 0; i < target_.GetNumModules(); ++i) {
    lldb::SBModule module = target_.GetModuleAtIndex(i);
    const std::string path = path_of(module.GetFileSpec());
    const auto bias = load_bias(module, target_);
    if (!bias || access(path.c_str(), R_OK) != 0) continue;
    modules.push_back({path, *bias, path == program_path});
  }
  return modules;
}

Result<void> LldbDebugger::need_process() {
  if (has_process()) return {};
  return fail(Fault::user, "there is no process", "start one with 'run' or attach to one");
}

Result<std::vector<ThreadId>> LldbDebugger::threads() {
  if (auto ready = need_process(); !ready) return tl::unexpected<Error>(ready.error());
  std::vector<ThreadId> ids;
  lldb::SBProcess current = process();
  ids.reserve(current.GetNumThreads());
  for (std::uint32_t i = 0; i < current.GetNumThreads(); ++i) ids.push_back(current.GetThreadAtIndex(i).GetThreadID());
  return ids;
}

Result<ThreadId> LldbDebugger::selected_thread() {
  if (auto ready = need_process(); !ready) return tl::unexpected<Error>(ready.error());
  const lldb::SBThread thread = process().GetSelectedThread();
  if (!thread.IsValid()) return fail(Fault::user, "no thread is selected", "select one with 'thread select'");
  return thread.GetThreadID();
}

Result<lldb::SBThread> LldbDebugger::stopped_thread(ThreadId thread) {
  lldb::SBThread found = process().GetThreadByID(thread);
  if (!found.IsValid()) return fail(Fault::target, fmt::format("there is no thread {}", thread));
  return found;
}

Result<std::uint64_t> LldbDebugger::read_register(ThreadId thread, Register which) {
  lldb::SBError error;
  std::uint64_t value = 0;
  if (lldb::SBFrame* frame = breakpoints_.current_frame(thread)) {
    value = frame_register(*frame, which, error);
  } else {
    auto found = stopped_thread(thread);
    if (!found) return tl::unexpected<Error>(found.error());
    lldb::SBFrame innermost = found->GetFrameAtIndex(0);
    if (!innermost.IsValid()) return fail(Fault::target, fmt::format("thread {} has no registers to read", thread));
    value = frame_register(innermost, which, error);
  }
  if (error.Success()) return value;
  return fail(Fault::flamb,
              fmt::format("register {} of thread {} cannot be read: {}",
                          kRegisterNames.at(static_cast<std::size_t>(which)), thread, error.GetCString()));
}

Result<void> LldbDebugger::read_memory(Address from, std::span<std::byte> bytes) {
  lldb::SBError error;
  const std::size_t got = process().ReadMemory(from, bytes.data(), bytes.size(), error);
  if (error.Success() && got == bytes.size()) return {};
  return fail(Fault::target,
              fmt::format("{} bytes of the target's memory at {:#x} cannot be read", bytes.size(), from));
}

Result<std::vector<Address>> LldbDebugger::callers(ThreadId thread, std::size_t limit) {
  auto found = stopped_thread(thread);
  if (!found) return tl::unexpected<Error>(found.error());
  std::vector<Address> addresses;
  bool above_innermost = false;
  for (std::uint32_t i = 0; addresses.size() < limit; ++i) {
    lldb::SBFrame frame = found->GetFrameAtIndex(i);
    if (!frame.IsValid()) break;
    if (above_innermost && !frame.IsInlined() && !frame.IsArtificial()) addresses.push_back(frame.GetPC());
    // An inlined function's frame comes before that of the function it is part of, which is the one with an address.
    if (!frame.IsInlined()) above_innermost = true;
  }
  return addresses;
}

Result<std::vector<Address>> LldbDebugger::breakpoint_addresses() { return breakpoints_.all_addresses(debugger_); }

// Neither has a way of its own in LLDB's API. A write forgets what is cached of its range before it looks at what is to
// be written, and a thread whose register was written forgets its frames.
void LldbDebugger::memory_changed(std::span<const MemoryRange> where) {
  lldb::SBProcess current = process();
  if (!has_process()) return;
  Selection selection(current);
  for (const auto& [from, size] : where) {
    lldb::SBError ignored;
    current.WriteMemory(from, nullptr, size, ignored);
  }
  for (std::uint32_t i = 0; i < current.GetNumThreads(); ++i) {
    lldb::SBFrame innermost = current.GetThreadAtIndex(i).GetFrameAtIndex(0);
    if (innermost.IsValid()) innermost.SetPC(innermost.GetPC());
  }
  selection.restore();
}

Result<BreakpointId> LldbDebugger::set_breakpoint(Address where, BreakpointHandler handler) {
  return breakpoints_.add(where, std::move(handler));
}

void LldbDebugger::remove_breakpoint(BreakpointId id) { breakpoints_.remove(id); }

void LldbDebugger::watch_modules() {
  module_stops_.emplace(debugger_, "target.process.stop-on-sharedlibrary-events", "true");
}

Result<void> LldbDebugger::suspend_user_breakpoints(bool suspend) {
  if (!suspend) {
    for (const auto id : suspended_breakpoints_) target_.FindBreakpointByID(id).SetEnabled(true);
    for (const auto id : suspended_watchpoints_) target_.FindWatchpointByID(id).SetEnabled(true);
    suspended_breakpoints_.clear();
    suspended_watchpoints_.clear();
    return {};
  }
  for (std::uint32_t i = 0; i < target_.GetNumBreakpoints(); ++i) {
    lldb::SBBreakpoint breakpoint = target_.GetBreakpointAtIndex(i);
    if (breakpoints_.owns(breakpoint.GetID()) || !breakpoint.IsEnabled()) continue;
    breakpoint.SetEnabled(false);
    suspended_breakpoints_.push_back(breakpoint.GetID());
  }
  for (std::uint32_t i = 0; i < target_.GetNumWatchpoints(); ++i) {
    lldb::SBWatchpoint watchpoint = target_.GetWatchpointAtIndex(i);
    if (!watchpoint.IsEnabled()) continue;
    watchpoint.SetEnabled(false);
    suspended_watchpoints_.push_back(watchpoint.GetID());
  }
  return {};
}

void LldbDebugger::interrupt() { interrupts_.request(); }

bool LldbDebugger::interrupt_requested() {
  return interrupts_.pressed() || debugger_.GetCommandInterpreter().WasInterrupted();
}

void LldbDebugger::print(std::string_view text) {
  progress({});
  result_.PutCString(text.data(), static_cast<int>(text.size()));
}

void LldbDebugger::progress(std::string_view line) {
  if (!shows_progress_) return;
  FILE* err = debugger_.GetErrorFileHandle();
  fmt::print(err, "\r{}\x1b[K", line);
  std::fflush(err);
}

}  // namespace flamb
