#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "contract_checks.h"

// What it takes to change the target behind the debugger's back: where its breakpoints are, single steps, and that it
// takes note of the changes.
namespace flamb::contract {

namespace {

bool any_within(const Program& program, const Result<std::vector<Address>>& addresses, std::string_view function) {
  return std::ranges::any_of(*addresses, [&](Address each) { return program.within(each, function); });
}

void breakpoint_addresses_are_told(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  host.break_at("outer");
  report.holds(debugger.breakpoint_addresses(), "addresses before the launch");
  Program program(host, report);
  if (!program.run_to_ready()) return;
  const auto ours = debugger.set_breakpoint(program.at("inner"), [](ThreadId) { return Verdict::go_on; });
  report.holds(ours, "breakpoint at inner");
  const std::string before = host.state();
  const auto all = debugger.breakpoint_addresses();
  if (!report.holds(all, "addresses")) return;
  report.equal(host.state(), before, "the debugger's state afterwards");
  report.expect(any_within(program, all, "outer"), "the user's is among them");
  report.expect(std::ranges::count(*all, program.at("inner")) > 0, "ours is among them");
  report.expect(!any_within(program, all, "ready"), "the one that is removed is not");
  const Address code = program.at("main") >> 32U;
  report.expect(std::ranges::any_of(*all, [&](Address each) { return each >> 32U != code; }),
                "the dynamic loader's, of the debugger's own, is among them");

  report.holds(debugger.suspend_user_breakpoints(true), "suspend");
  const auto suspended = debugger.breakpoint_addresses();
  report.expect(suspended && !any_within(program, suspended, "outer"), "a disabled one is not among them");
  report.holds(debugger.suspend_user_breakpoints(false), "end of the suspension");
}

// Stopped at the first instruction of `function`.
ThreadId run_to(Host& host, Report& report, Program& program, std::string_view function) {
  const auto there = host.debugger.set_breakpoint(program.at(function), [](ThreadId) { return Verdict::stop; });
  report.holds(there, "breakpoint");
  const auto stop = program.resume();
  report.stopped(stop, Stop::Kind::requested, "run to the function");
  return stop ? stop->thread : 0;
}

void steps_run_one_instruction(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  const ThreadId thread = run_to(host, report, program, "neighbours");
  int hits = 0;
  report.holds(debugger.set_breakpoint(program.at("neighbours") + 1, [&](ThreadId) { return ++hits, Verdict::go_on; }),
               "breakpoint at the second instruction");
  const Address back = program.return_address(thread).value_or(0);
  for (Address i = 1; i < 4; ++i) {
    report.stopped(debugger.step(thread), Stop::Kind::requested, fmt::format("step {}", i));
    report.equal(debugger.read_register(thread, Register::rip).value_or(0), program.at("neighbours") + i, "rip");
  }
  report.stopped(debugger.step(thread), Stop::Kind::requested, "the step out of the function");
  report.equal(debugger.read_register(thread, Register::rip).value_or(0), back, "rip after the return");
  const auto end = program.resume();
  if (report.stopped(end, Stop::Kind::exited, "run to the end")) report.equal(end->code, 7, "exit status");
  report.equal(hits, 1, "hits of the breakpoint that a step got to");
  report.expect(!debugger.step(1).has_value(), "a step of a thread that is not there is an error");
}

void steps_leave_other_threads_alone(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  int hits = 0;
  report.holds(debugger.set_breakpoint(program.at("about_to_spin"), [&](ThreadId) { return ++hits, Verdict::stop; }),
               "breakpoint at about_to_spin");
  while (hits < 2) {
    if (!report.stopped(program.resume(), Stop::Kind::requested, "a thread is about to spin")) return;
  }
  const ThreadId selected = debugger.selected_thread().value_or(0);
  const auto threads = debugger.threads();
  if (!report.holds(threads, "threads")) return;
  report.equal(threads->size(), 2U, "threads");
  for (int i = 0; i < 12; ++i) {
    const ThreadId stepped = threads->at(i % 2);
    const ThreadId other = threads->at(1 - i % 2);
    const auto from = debugger.read_register(stepped, Register::rip);
    const auto others = debugger.read_register(other, Register::rip);
    const std::string before = host.state();
    if (!report.stopped(debugger.step(stepped), Stop::Kind::requested, "step")) return;
    report.expect(debugger.read_register(stepped, Register::rip).value_or(0) != from.value_or(0), "the thread moved");
    report.equal(debugger.read_register(other, Register::rip).value_or(0), others.value_or(1), "rip of the other");
    report.equal(debugger.selected_thread().value_or(0), selected, "selected thread");
    if (stepped != selected) report.equal(host.state(), before, "the debugger's state after a step");
  }
  report.equal(hits, 2, "no hit is told twice");
}

// LLDB 21 and newer have the thread hit it when it goes on, others at once.
void steps_do_not_pass_the_users_breakpoint(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  host.break_at("second_neighbour");
  Program program(host, report);
  const ThreadId thread = run_to(host, report, program, "neighbours");
  auto stop = debugger.step(thread);
  report.equal(debugger.read_register(thread, Register::rip).value_or(0), program.at("neighbours") + 1, "rip");
  if (stop && stop->kind == Stop::Kind::requested) stop = program.resume();
  report.stopped(stop, Stop::Kind::user, "the user's breakpoint");
  report.stopped(debugger.step(thread), Stop::Kind::requested, "the step from the user's breakpoint");
  report.equal(debugger.read_register(thread, Register::rip).value_or(0), program.at("neighbours") + 2, "rip");
  report.stopped(program.resume(), Stop::Kind::exited, "run to the end");
}

void signals_in_steps_are_reported(Host& host, Report& report) {
  Program program(host, report);
  const ThreadId thread = run_to(host, report, program, "illegal");
  const auto stop = host.debugger.step(thread);
  if (!report.stopped(stop, Stop::Kind::signal, "the step of an illegal instruction")) return;
  report.equal(stop->code, 4, "the signal's number");
  report.equal(stop->thread, thread, "the signal's thread");
}

void interrupts_come_before_steps(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  const ThreadId thread = run_to(host, report, program, "neighbours");
  debugger.interrupt();
  report.stopped(debugger.step(thread), Stop::Kind::interrupted, "a step after interrupt()");
  report.equal(debugger.read_register(thread, Register::rip).value_or(0), program.at("neighbours"), "rip");
  report.stopped(debugger.step(thread), Stop::Kind::requested, "the next step");
  report.equal(debugger.read_register(thread, Register::rip).value_or(0), program.at("neighbours") + 1, "rip");
  report.expect(!debugger.interrupt_requested(), "the user has not pressed Ctrl-C");
}

// Writes past the debugger.
template <class T>
void write_past(Debugger& debugger, Address to, const T& value) {
  std::fstream memory(fmt::format("/proc/{}/mem", debugger.target()->pid), std::ios::in | std::ios::out);
  std::array<char, sizeof value> bytes{};
  std::memcpy(bytes.data(), &value, sizeof value);
  memory.seekp(static_cast<std::streamoff>(to));
  memory.write(bytes.data(), sizeof value);
}

void changed_memory_is_seen(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  const ThreadId thread = run_to(host, report, program, "inner");
  const Address slot = debugger.read_register(thread, Register::rsp).value_or(0);
  const Address code = program.at("neighbours");
  const std::array<MemoryRange, 2> changed{{{slot, 8}, {code, 8}}};
  const std::string before = host.state();
  const auto callers = debugger.callers(thread, 100);
  const auto back = read_word(debugger, slot);
  const auto instructions = read_word(debugger, code);
  if (!report.holds(callers, "callers") || !report.holds(back, "stack") || !report.holds(instructions, "code")) return;

  const Address elsewhere = program.at("give_int") + 1;
  write_past(debugger, slot, elsewhere);
  write_past(debugger, code, ~*instructions);
  debugger.memory_changed(changed);
  report.equal(read_word(debugger, slot).value_or(0), elsewhere, "the changed stack");
  report.equal(read_word(debugger, code).value_or(0), ~*instructions, "the changed code");
  const auto misled = debugger.callers(thread, 100);
  report.expect(misled && !misled->empty() && misled->front() == elsewhere,
                "the frames are those of the changed stack");

  write_past(debugger, slot, *back);
  write_past(debugger, code, *instructions);
  debugger.memory_changed(changed);
  report.equal(read_word(debugger, code).value_or(0), *instructions, "the code that was put back");
  report.expect(debugger.callers(thread, 100).value_or(std::vector<Address>{}) == *callers,
                "the frames are as before when the stack is");
  report.equal(host.state(), before, "the debugger's state");
}

constexpr std::array<Check, 7> kChecks{{
    {"breakpoint_addresses_are_told", "calls", breakpoint_addresses_are_told},
    {"steps_run_one_instruction", "calls", steps_run_one_instruction},
    {"steps_leave_other_threads_alone", "spins", steps_leave_other_threads_alone},
    {"steps_do_not_pass_the_users_breakpoint", "calls", steps_do_not_pass_the_users_breakpoint},
    {"signals_in_steps_are_reported", "illegal", signals_in_steps_are_reported},
    {"interrupts_come_before_steps", "calls", interrupts_come_before_steps},
    {"changed_memory_is_seen", "calls", changed_memory_is_seen},
}};

}  // namespace

std::span<const Check> step_checks() { return kChecks; }

}  // namespace flamb::contract
