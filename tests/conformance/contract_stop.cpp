#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "contract_checks.h"

// Stops that are not ours, and what is put back.
namespace flamb::contract {

namespace {

void modules_are_reported(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  bool ran = false;
  int hits = 0;
  const auto ready = debugger.set_breakpoint(program.at("ready"), [&](ThreadId) { return ran = true, Verdict::go_on; });
  report.holds(ready, "breakpoint at ready");
  auto stop = debugger.resume();
  int before_main = 0;
  bool armed = false;
  for (; stop && stop->kind == Stop::Kind::modules; stop = debugger.resume()) {
    if (!ran) ++before_main;
    const auto modules = debugger.modules();
    if (!report.holds(modules, "modules")) return;
    for (const Module& module : *modules) {
      if (armed || module.path.find("libcontract_library.so") == module.path.npos) continue;
      armed = true;
      const Address where = Symbols::read(module.path).at("library_function", module.load_bias);
      report.holds(debugger.set_breakpoint(where, [&](ThreadId) { return ++hits, Verdict::go_on; }),
                   "breakpoint in the library");
    }
  }
  if (report.stopped(stop, Stop::Kind::exited, "the last stop")) report.equal(stop->code, 21, "exit status");
  report.expect(before_main > 0, "the libraries that the loader brings are reported before main");
  report.expect(armed, "the library opened by the program is reported before its functions run");
  report.equal(hits, 1, "calls of the library's function");
}

void users_breakpoint_is_reported(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  host.break_at("outer");
  Program program(host, report);
  int inner = 0;
  int outer = 0;
  report.holds(debugger.set_breakpoint(program.at("inner"), [&](ThreadId) { return ++inner, Verdict::go_on; }),
               "breakpoint at inner");
  report.holds(debugger.set_breakpoint(program.at("outer"), [&](ThreadId) { return ++outer, Verdict::go_on; }),
               "breakpoint at outer");
  int stops = 0;
  auto stop = program.resume();
  for (; stop && stop->kind == Stop::Kind::user; stop = program.resume()) {
    ++stops;
    report.expect(!stop->description.empty(), "the user's stop has a description");
    report.equal(stop->thread, debugger.threads().value_or(std::vector<ThreadId>{0}).front(),
                 "the user's stop's thread");
  }
  report.stopped(stop, Stop::Kind::exited, "the last stop");
  report.equal(stops, 5, "stops at the user's breakpoint");
  report.equal(inner, 10, "hits of our breakpoint elsewhere");
  report.equal(outer, 5, "hits of our breakpoint at the function of the user's");
}

void users_breakpoints_can_be_suspended(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  host.break_at("outer");
  host.break_at("inner");
  Program program(host, report);
  if (!program.run_to_ready()) return;
  const std::string before = host.state();
  report.holds(debugger.suspend_user_breakpoints(true), "suspend");
  report.expect(host.state() != before, "the suspended breakpoints show in the debugger's state");
  int hits = 0;
  report.holds(debugger.set_breakpoint(program.at("neighbours"), [&](ThreadId) { return ++hits, Verdict::stop; }),
               "breakpoint at neighbours");
  report.stopped(program.resume(), Stop::Kind::requested, "the user's breakpoints are not hit");
  report.holds(debugger.suspend_user_breakpoints(false), "end of the suspension");
  report.stopped(program.resume(), Stop::Kind::exited, "run to the end");
}

void signals_are_reported_and_delivered(Host& host, Report& report) {
  Program program(host, report);
  const auto stop = program.resume();
  if (report.stopped(stop, Stop::Kind::signal, "the signal")) {
    report.equal(stop->code, 10, "the signal's number");
    report.contains(stop->description, "SIGUSR1", "the signal's description");
  }
  const auto end = program.resume();
  if (report.stopped(end, Stop::Kind::exited, "after the signal"))
    report.equal(end->code, 10, "exit status: the signal's handler ran");
}

void death_by_signal_is_reported(Host& host, Report& report) {
  Program program(host, report);
  auto stop = program.resume();
  if (stop && stop->kind == Stop::Kind::signal) stop = program.resume();
  if (report.stopped(stop, Stop::Kind::killed, "the end")) report.equal(stop->code, 15, "the signal's number");
}

void exec_is_reported(Host& host, Report& report) {
  Program program(host, report);
  report.stopped(program.resume(), Stop::Kind::exec, "the program replaces itself");
  const auto end = program.resume();
  if (report.stopped(end, Stop::Kind::exited, "after the exec"))
    report.equal(end->code, 7, "exit status of the new program");
}

// Interrupts the target from another thread, told by the target's own progress when.
class Interrupter {
 public:
  explicit Interrupter(Debugger& debugger) : thread_([this, &debugger] { wait_and_interrupt(debugger); }) {}
  ~Interrupter() {
    tell(Order::give_up);
    thread_.join();
  }
  Interrupter(const Interrupter&) = delete;
  Interrupter& operator=(const Interrupter&) = delete;

  void now() { tell(Order::interrupt); }

 private:
  enum class Order { wait, interrupt, give_up };

  void tell(Order order) {
    const std::lock_guard lock(mutex_);
    if (order_ == Order::wait) order_ = order;
    changed_.notify_all();
  }

  void wait_and_interrupt(Debugger& debugger) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return order_ != Order::wait; });
    if (order_ == Order::interrupt) debugger.interrupt();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Order order_ = Order::wait;
  std::thread thread_;
};

void interrupt_stops_a_running_target(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  Interrupter interrupter(debugger);
  report.holds(
      debugger.set_breakpoint(program.at("about_to_spin"), [&](ThreadId) { return interrupter.now(), Verdict::go_on; }),
      "breakpoint at about_to_spin");
  const auto stop = program.resume();
  if (!report.stopped(stop, Stop::Kind::interrupted, "interrupt() while the target runs")) return;
  report.expect(!debugger.interrupt_requested(), "the user has not pressed Ctrl-C");
  const auto threads = debugger.threads();
  report.holds(threads, "threads after the interrupt");
  const auto info = debugger.target();
  report.expect(info && info->state == TargetState::stopped, "the target is stopped");
  if (threads) report.holds(debugger.read_register(threads->front(), Register::rip), "registers after the interrupt");
}

void interrupts_outlast_other_stops(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  host.break_at("about_to_spin");
  Program program(host, report);
  report.holds(debugger.set_breakpoint(program.at("about_to_spin"),
                                       [&](ThreadId) { return debugger.interrupt(), Verdict::go_on; }),
               "breakpoint at about_to_spin");
  auto stop = program.resume();
  if (stop && stop->kind == Stop::Kind::user) stop = program.resume();
  report.stopped(stop, Stop::Kind::interrupted, "interrupt() at a breakpoint of the user's");
}

void a_removed_breakpoint_leaves_nothing(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  host.break_at("neighbours");
  Program program(host, report);
  if (!program.run_to_ready()) return;
  const std::string before = host.state();
  int hits = 0;
  const auto breakpoint =
      debugger.set_breakpoint(program.at("inner"), [&](ThreadId) { return ++hits, Verdict::go_on; });
  report.holds(breakpoint, "breakpoint at inner");
  if (breakpoint) debugger.remove_breakpoint(*breakpoint);
  report.equal(host.state(), before, "the debugger's state after the removal");
  report.stopped(program.resume(), Stop::Kind::user, "the user's breakpoint");
  report.equal(hits, 0, "hits of the removed breakpoint");
}

constexpr std::array<Check, 9> kChecks{{
    {"modules_are_reported", "library", modules_are_reported},
    {"users_breakpoint_is_reported", "calls", users_breakpoint_is_reported},
    {"users_breakpoints_can_be_suspended", "calls", users_breakpoints_can_be_suspended},
    {"signals_are_reported_and_delivered", "signal", signals_are_reported_and_delivered},
    {"death_by_signal_is_reported", "killed", death_by_signal_is_reported},
    {"exec_is_reported", "exec", exec_is_reported},
    {"interrupt_stops_a_running_target", "spin", interrupt_stops_a_running_target},
    {"interrupts_outlast_other_stops", "spin", interrupts_outlast_other_stops},
    {"a_removed_breakpoint_leaves_nothing", "calls", a_removed_breakpoint_leaves_nothing},
}};

}  // namespace

std::span<const Check> stop_checks() { return kChecks; }

}  // namespace flamb::contract
