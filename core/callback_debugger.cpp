#include "callback_debugger.h"

#include <csignal>
#include <exception>

namespace flamb {
namespace {

// The program's own bytes may hold anything, and the host takes strings that end in a zero byte.
std::string without_zeros(std::string_view text) {
  std::string copy(text);
  std::erase(copy, '\0');
  return copy;
}

bool same_files(const std::vector<Module>& a, const std::vector<Module>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Module& one, const Module& other) {
    return one.load_bias == other.load_bias && one.path == other.path;
  });
}

}  // namespace

template <class... Parameters, class... Arguments>
Result<void> CallbackDebugger::ask(int32_t (*callback)(Parameters...), Arguments... arguments) {
  reply_ = {};
  if (callback(arguments...) == FLAMB_DONE) return {};
  if (reply_.error) return tl::unexpected<Error>(*reply_.error);
  return fail(Fault::user, "interrupted");
}

Result<std::uint64_t> CallbackDebugger::number(std::size_t index) const {
  if (index < reply_.numbers.size()) return reply_.numbers[index];
  return fail(Fault::flamb, fmt::format("{} gave no number where one was due", callbacks_.debugger_name));
}

Result<TargetInfo> CallbackDebugger::target() {
  if (auto asked = ask(callbacks_.target); !asked) return tl::unexpected<Error>(asked.error());
  if (!reply_.target) return fail(Fault::flamb, fmt::format("{} gave no target", callbacks_.debugger_name));
  return *reply_.target;
}

Result<std::vector<Module>> CallbackDebugger::modules() {
  Result<std::vector<Module>> found;
  if (NativeTarget* direct = native()) {
    found = mapped_modules(direct->pid());
  } else if (auto asked = ask(callbacks_.modules); asked) {
    found = reply_.modules;
  } else {
    return tl::unexpected<Error>(asked.error());
  }
  if (found) seen_modules_ = *found;
  return found;
}

Result<std::vector<ThreadId>> CallbackDebugger::threads() {
  if (auto asked = ask(callbacks_.threads); !asked) return tl::unexpected<Error>(asked.error());
  return reply_.numbers;
}

Result<ThreadId> CallbackDebugger::selected_thread() {
  return ask(callbacks_.selected_thread).and_then([this] { return number(0); });
}

Result<std::uint64_t> CallbackDebugger::read_register(ThreadId thread, Register which) {
  // The processor is one byte past the breakpoint until the debugger has put it back.
  if (which == Register::rip && thread == hit_thread_ && thread != 0) return hit_where_;
  if (NativeTarget* direct = native()) {
    if (const auto value = direct->read_register(thread, which)) return *value;
  }
  return ask(callbacks_.read_register, thread, static_cast<int32_t>(which)).and_then([this] { return number(0); });
}

Result<void> CallbackDebugger::read_memory(Address from, std::span<std::byte> bytes) {
  if (bytes.empty()) return {};
  if (NativeTarget* direct = native(); direct != nullptr && direct->read_memory(from, bytes)) return {};
  return ask(callbacks_.read_memory, from, static_cast<void*>(bytes.data()), bytes.size());
}

Result<std::vector<Address>> CallbackDebugger::callers(ThreadId thread, std::size_t limit) {
  if (auto asked = ask(callbacks_.callers, thread, limit); !asked) return tl::unexpected<Error>(asked.error());
  return reply_.numbers;
}

Result<BreakpointId> CallbackDebugger::set_breakpoint(Address where, BreakpointHandler handler) {
  const BreakpointId id = ++last_id_;
  breakpoints_.emplace(id, Breakpoint{where, std::move(handler), {}});
  if (auto asked = ask(callbacks_.set_breakpoint, id, where); !asked) {
    breakpoints_.erase(id);
    return tl::unexpected<Error>(asked.error());
  }
  return id;
}

void CallbackDebugger::remove_breakpoint(BreakpointId id) {
  if (breakpoints_.erase(id) == 0) return;
  // One that stays behind stops for nobody, and goes when the session ends.
  static_cast<void>(ask(callbacks_.remove_breakpoint, id));
}

Result<std::vector<Address>> CallbackDebugger::breakpoint_addresses() {
  if (auto asked = ask(callbacks_.breakpoint_addresses); !asked) return tl::unexpected<Error>(asked.error());
  return reply_.numbers;
}

void CallbackDebugger::memory_changed(std::span<const MemoryRange> /*where*/) {
  // A host that does not forget shows what was: no reason to end a command.
  static_cast<void>(ask(callbacks_.memory_changed));
}

Result<Stop> CallbackDebugger::launch() {
  native_known_ = false;
  native_.reset();
  const Result<Stop> stop = run(callbacks_.launch);
  if (stop) note_if_interrupted(*stop);
  return stop;
}

Result<Stop> CallbackDebugger::resume() {
  for (;;) {
    Result<Stop> stop = run(callbacks_.resume).map([this](const Stop& reported) { return stop_of(reported); });
    if (!stop || stop->kind != Stop::Kind::modules) return stop;
    // The dynamic loader reports several states of one change: only the one that shows it counts.
    const std::vector<Module> before = seen_modules_;
    const auto after = modules();
    if (!after || !same_files(before, *after)) return stop;
  }
}

Result<Stop> CallbackDebugger::step(ThreadId thread) {
  const auto before = read_register(thread, Register::rip);
  if (!before) return tl::unexpected<Error>(before.error());
  hit_where_ = 0;
  stepping_ = thread;
  auto stop = run(callbacks_.step, thread);
  // A thread that has not been stopped by the breakpoint where it is hits it, and only then runs its instruction.
  if (stop && stop->kind == Stop::Kind::requested && hit_where_ == *before &&
      read_register(thread, Register::rip).value_or(0) == *before) {
    stop = run(callbacks_.step, thread);
  }
  stepping_ = 0;
  if (stop) note_if_interrupted(*stop);
  return stop;
}

template <class... Parameters, class... Arguments>
Result<Stop> CallbackDebugger::run(int32_t (*callback)(Parameters...), Arguments... arguments) {
  if (interrupt_pending_) return Stop{Stop::Kind::interrupted, 0, 0, "interrupted"};
  stop_requested_ = false;
  if (native_) native_->forget();
  running_ = true;
  const Result<void> asked = ask(callback, arguments...);
  running_ = false;
  has_run();
  if (auto thrown = what_was_thrown(); !thrown) return tl::unexpected<Error>(thrown.error());
  if (!asked) return tl::unexpected<Error>(asked.error());
  if (!reply_.stop) return fail(Fault::flamb, fmt::format("{} gave no reason for the stop", callbacks_.debugger_name));
  return *reply_.stop;
}

// The host knows that one of our breakpoints was hit, but not what its handler wanted.
Stop CallbackDebugger::stop_of(Stop reported) {
  using Kind = Stop::Kind;
  const bool at_breakpoint = reported.kind == Kind::requested || reported.kind == Kind::user;
  if (at_breakpoint && stop_requested_) {
    reported.kind = Kind::requested;
  } else if (reported.kind == Kind::requested && interrupt_pending_) {
    reported.kind = Kind::interrupted;
    reported.description = "interrupted";
  } else if (reported.kind == Kind::requested) {
    // Ours let the target go on: it is the dynamic loader's own breakpoint that stopped it, at the same place.
    reported.kind = Kind::modules;
  }
  note_if_interrupted(reported);
  return reported;
}

void CallbackDebugger::note_if_interrupted(const Stop& reported) {
  if (reported.kind != Stop::Kind::interrupted) return;
  interrupt_pending_ = false;
  if (!interrupt_sent_.exchange(false)) user_interrupted_ = true;
}

void CallbackDebugger::has_run() {
  if (native_) native_->forget();
  const bool over = reply_.stop && has_ended(reply_.stop->kind);
  if (over || !native_) {
    native_.reset();
    native_known_ = false;
  }
}

Result<void> CallbackDebugger::what_was_thrown() {
  if (thrown_.empty()) return {};
  return fail(Fault::flamb, "an internal error at a breakpoint: " + std::exchange(thrown_, {}));
}

Result<CallOutcome> CallbackDebugger::call(const std::string& expression, const CallObserver& calling,
                                           OtherThreads others) {
  if (interrupt_pending_.exchange(false)) return fail(Fault::user, "interrupted");
  stop_requested_ = false;
  observer_ = &calling;
  running_ = true;
  const Result<void> asked =
      ask(callbacks_.call, without_zeros(expression).c_str(), others == OtherThreads::stay ? 1 : 0);
  running_ = false;
  observer_ = nullptr;
  has_run();
  if (auto thrown = what_was_thrown(); !thrown) return tl::unexpected<Error>(thrown.error());
  if (!asked) return tl::unexpected<Error>(asked.error());
  CallOutcome outcome;
  outcome.finished = !reply_.stop;
  outcome.value = reply_.text;
  if (reply_.stop) outcome.stop = stop_of(*reply_.stop);
  return outcome;
}

Result<void> CallbackDebugger::expect_return_value(ThreadId thread) {
  return ask(callbacks_.expect_return_value, thread);
}

Result<std::string> CallbackDebugger::return_value(ThreadId thread, Address function) {
  return ask(callbacks_.return_value, thread, function).map([this] { return reply_.text; });
}

Result<void> CallbackDebugger::suspend_user_breakpoints(bool suspend) {
  return ask(callbacks_.suspend_user_breakpoints, suspend ? 1 : 0);
}

void CallbackDebugger::interrupt() {
  interrupt_sent_ = true;
  interrupt_pending_ = true;
  // In a handler its answer stops the target; before a run the next run reports it.
  if (!running_ || pthread_equal(pthread_self(), thread_) != 0) return;
  pthread_kill(thread_, SIGINT);  // the host takes it for Ctrl-C
}

bool CallbackDebugger::interrupt_requested() {
  static_cast<void>(ask(callbacks_.poll));
  return user_interrupted_;
}

void CallbackDebugger::print(std::string_view text) {
  static_cast<void>(ask(callbacks_.print, without_zeros(text).c_str()));
}

void CallbackDebugger::progress(std::string_view line) {
  static_cast<void>(ask(callbacks_.progress, without_zeros(line).c_str()));
}

bool CallbackDebugger::hit(BreakpointId id, ThreadId thread) noexcept {
  const auto found = breakpoints_.find(id);
  if (found == breakpoints_.end()) return false;
  if (native_) native_->forget();
  hit_thread_ = thread;
  hit_where_ = found->second.where;
  try {
    if (!is_told_again(found->second, thread) && found->second.handler(thread) == Verdict::stop) stop_requested_ = true;
  } catch (const std::exception& exception) {
    thrown_ = exception.what();
  } catch (...) {
    thrown_ = "unknown";
  }
  gets_signals_ = gets_signals_ || (native_ && native_->has_pending_signal(thread));
  hit_thread_ = 0;
  return stop_requested_ || !thrown_.empty() || interrupt_pending_;
}

// GDB has a thread hit a breakpoint anew that it did not step off: when a signal came in between, or when the thread is
// stepped that another's stop kept there. Nothing has changed in the thread then; but nor has it where a loop calls a
// function again, so that GDB has to be asked if it does not step. That takes a millisecond, and is done for long only
// if the program gets signals.
bool CallbackDebugger::is_told_again(Breakpoint& breakpoint, ThreadId thread) {
  constexpr int most_vain_questions = 50;
  NativeTarget* direct = native();
  const auto registers = direct != nullptr ? direct->read_registers(thread) : std::nullopt;
  if (!registers) return false;
  GeneralRegisters& last = breakpoint.last_hits[thread];
  const bool is_as_before = last == *registers;
  last = *registers;
  if (!is_as_before) return false;
  if (thread == stepping_) return true;
  if (!gets_signals_ && vain_questions_ == most_vain_questions) return false;
  const bool again = ask(callbacks_.steps_off_again, breakpoint.where) && number(0).value_or(0) != 0;
  gets_signals_ = gets_signals_ || again;
  if (!gets_signals_) ++vain_questions_;
  return again;
}

void CallbackDebugger::calling(ThreadId thread, Address address) noexcept {
  if (observer_ == nullptr) return;
  if (native_) native_->forget();
  try {
    (*observer_)(thread, address);
  } catch (const std::exception& exception) {
    thrown_ = exception.what();
  } catch (...) {
    thrown_ = "unknown";
  }
  if (native_) native_->forget();
}

void CallbackDebugger::note_interrupt() noexcept {
  interrupt_pending_ = true;
  if (!interrupt_sent_) user_interrupted_ = true;
}

// Asked for once a process: the debugger's word for the stack pointer has to be the kernel's.
NativeTarget* CallbackDebugger::native() {
  if (native_known_) return native_.get();
  native_known_ = true;
  if (!ask(callbacks_.native_thread) || reply_.numbers.size() != 3) return nullptr;
  auto candidate = std::make_unique<NativeTarget>(static_cast<pid_t>(reply_.numbers[0]));
  if (candidate->read_register(reply_.numbers[1], Register::rsp) == reply_.numbers[2]) native_ = std::move(candidate);
  return native_.get();
}

}  // namespace flamb
