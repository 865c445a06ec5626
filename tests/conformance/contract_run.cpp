#include <algorithm>
#include <array>
#include <set>

#include "contract_checks.h"

// Starting the target, reading it, breakpoints and their handlers.
namespace flamb::contract {

namespace {

void launch_stops_at_entry(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  const auto before = debugger.target();
  if (report.holds(before, "target before the launch")) {
    report.expect(before->state == TargetState::not_started, "before the launch the target is not started");
    report.contains(before->program, "contract_target", "the program's path");
    report.equal(before->pid, 0, "pid before the launch");
  }
  const auto modules = debugger.modules();
  if (report.holds(modules, "modules before the launch")) {
    report.equal(modules->size(), 1U, "modules before the launch");
    for (const Module& module : *modules) report.expect(module.is_program, "the one module is the program");
  }
  Program program(host, report);
  const auto after = debugger.target();
  if (report.holds(after, "target after the launch")) {
    report.expect(after->state == TargetState::stopped, "after the launch the target is stopped");
    report.expect(after->pid > 0, "after the launch there is a pid");
    report.expect(after->is_local, "the target is local");
  }
  const auto threads = debugger.threads();
  if (report.holds(threads, "threads")) report.equal(threads->size(), 1U, "threads at the entry");
  const auto selected = debugger.selected_thread();
  if (report.holds(selected, "selected thread") && threads)
    report.equal(*selected, threads->front(), "selected thread");
  int calls = 0;
  const auto ready = debugger.set_breakpoint(program.at("ready"), [&](ThreadId) { return ++calls, Verdict::go_on; });
  report.holds(ready, "breakpoint at ready");
  const auto stop = program.resume();
  if (report.stopped(stop, Stop::Kind::exited, "run to the end")) report.equal(stop->code, 7, "exit status");
  report.equal(calls, 1, "calls of ready: the launch stopped before them");
  const auto end = debugger.target();
  if (report.holds(end, "target after its end"))
    report.expect(end->state == TargetState::exited, "the target has exited");
  report.equal(debugger.launch().has_value(), true, "a target that exited can be launched again");
}

void handlers_see_every_thread(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  const Address where = program.at("worker_step");
  std::map<ThreadId, int> hits;
  int wrong_rip = 0;
  int wrong_return = 0;
  const auto breakpoint = debugger.set_breakpoint(where, [&](ThreadId thread) {
    ++hits[thread];
    if (debugger.read_register(thread, Register::rip).value_or(0) != where) ++wrong_rip;
    if (program.return_address(thread).value_or(0) == 0) ++wrong_return;
    return Verdict::go_on;
  });
  report.holds(breakpoint, "breakpoint at worker_step");
  const auto stop = program.resume();
  if (report.stopped(stop, Stop::Kind::exited, "run to the end")) report.equal(stop->code, 0, "exit status");
  report.equal(hits.size(), 4U, "threads that hit the breakpoint");
  for (const auto& [thread, count] : hits) report.equal(count, 25, fmt::format("hits of thread {}", thread));
  report.equal(wrong_rip, 0, "hits at which rip is not the breakpoint's address");
  report.equal(wrong_return, 0, "hits at which the return address cannot be read");
}

void no_hit_is_lost_at_requested_stops(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  int hits = 0;
  report.holds(debugger.set_breakpoint(program.at("worker_step"), [&](ThreadId) { return ++hits, Verdict::stop; }),
               "breakpoint at worker_step");
  int stops = 0;
  auto stop = program.resume();
  for (; stop && stop->kind == Stop::Kind::requested; stop = program.resume()) ++stops;
  report.stopped(stop, Stop::Kind::exited, "the last stop");
  report.equal(hits, 100, "calls of the handler");
  report.expect(stops > 0 && stops <= hits, "no more stops than hits");
}

void breakpoints_inside_a_handler(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  int entries = 0;
  std::set<Address> returns_set;
  int returns = 0;
  report.holds(debugger.set_breakpoint(program.at("inner"),
                                       [&](ThreadId thread) {
                                         ++entries;
                                         const Address to = program.return_address(thread).value_or(0);
                                         report.expect(program.within(to, "outer"), "inner returns to outer");
                                         if (!returns_set.insert(to).second) return Verdict::go_on;
                                         const auto made = debugger.set_breakpoint(
                                             to, [&](ThreadId) { return ++returns, Verdict::go_on; });
                                         report.holds(made, "breakpoint set inside a handler");
                                         return Verdict::go_on;
                                       }),
               "breakpoint at inner");
  report.stopped(program.resume(), Stop::Kind::exited, "run to the end");
  report.equal(entries, 10, "entries of inner");
  report.equal(returns_set.size(), 2U, "places inner returns to");
  report.equal(returns, 10, "returns from inner");
}

void breakpoints_at_one_address_are_independent(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  std::array<int, 2> hits{};
  std::array<Result<BreakpointId>, 2> ids{fail(Fault::flamb, ""), fail(Fault::flamb, "")};
  for (std::size_t i = 0; i < 2; ++i) {
    ids[i] = debugger.set_breakpoint(
        program.at("outer"), [&hits, i](ThreadId) { return ++hits[i], i == 0 ? Verdict::stop : Verdict::go_on; });
    report.holds(ids[i], "breakpoint at outer");
  }
  report.stopped(program.resume(), Stop::Kind::requested, "the first call of outer");
  report.equal(hits[0], 1, "hits of the first");
  report.equal(hits[1], 1, "hits of the second");
  if (ids[0]) debugger.remove_breakpoint(*ids[0]);
  if (ids[0]) debugger.remove_breakpoint(*ids[0]);
  report.stopped(program.resume(), Stop::Kind::exited, "run to the end");
  report.equal(hits[0], 1, "hits of the removed one");
  report.equal(hits[1], 5, "hits of the one that stayed");
}

void breakpoints_on_neighbours(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  std::string order;
  for (Address i = 0; i < 4; ++i) {
    report.holds(debugger.set_breakpoint(program.at("neighbours") + i,
                                         [&order, i](ThreadId) { return order += std::to_string(i), Verdict::go_on; }),
                 "breakpoint at neighbours");
  }
  report.stopped(program.resume(), Stop::Kind::exited, "run to the end");
  report.equal(order, "0123", "hits in order");
}

void memory_and_registers(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  if (!program.run_to_ready()) return;
  const Address where = program.at("neighbours");
  const std::array<std::byte, 4> code{std::byte{0x90}, std::byte{0x90}, std::byte{0x90}, std::byte{0xc3}};
  std::array<std::byte, 4> inside{};
  ThreadId hit = 0;
  const auto breakpoint = debugger.set_breakpoint(where + 1, [&](ThreadId thread) {
    hit = thread;
    report.holds(debugger.read_memory(where, inside), "memory inside a handler");
    return Verdict::stop;
  });
  report.holds(breakpoint, "breakpoint at neighbours");
  report.stopped(program.resume(), Stop::Kind::requested, "stop in neighbours");
  std::array<std::byte, 4> outside{};
  report.holds(debugger.read_memory(where, outside), "memory at the stop");
  report.expect(inside == code, "memory inside a handler shows the program's bytes");
  report.expect(outside == code, "memory at a stop shows the program's bytes");
  report.expect(!debugger.read_memory(8, outside).has_value(), "memory that is not mapped is an error");
  for (int i = 0; i <= static_cast<int>(Register::rflags); ++i) {
    report.holds(debugger.read_register(hit, static_cast<Register>(i)), fmt::format("register {}", i));
  }
  report.equal(debugger.read_register(hit, Register::rip).value_or(0), where + 1, "rip at the stop");
  report.equal(debugger.read_register(hit, Register::rflags).value_or(0) & 2U, 2U,
               "the bit of rflags that is always set");
  report.expect(!debugger.read_register(1, Register::rip).has_value(), "a register of a thread that is not there");
}

// A debugger for which it is no gain says so, and runs the instruction.
void a_jump_leaves_out_the_instruction(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  const Address where = program.at("neighbours");  // nop; nop; nop; ret
  bool has_jumped = false;
  bool was_refused = false;
  int passed = 0;
  report.holds(debugger.set_breakpoint(where + 2, [&](ThreadId) { return ++passed, Verdict::go_on; }), "breakpoint");
  report.holds(debugger.set_breakpoint(where + 1,
                                       [&](ThreadId thread) {
                                         was_refused = !debugger.jump(thread, where + 2);
                                         has_jumped = debugger.jump(thread, where + 3);
                                         return Verdict::go_on;
                                       }),
               "breakpoint");
  report.stopped(program.resume(), Stop::Kind::exited, "run to the end");
  report.expect(was_refused, "a jump to another breakpoint, which would be passed over, is refused");
  report.equal(passed, has_jumped ? 0 : 1, "how often the thread came by the instruction");
}

void callers_are_return_addresses(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  ThreadId hit = 0;
  report.holds(
      debugger.set_breakpoint(program.at("inner"), [&](ThreadId thread) { return hit = thread, Verdict::stop; }),
      "breakpoint at inner");
  report.stopped(program.resume(), Stop::Kind::requested, "stop in inner");
  const auto all = debugger.callers(hit, 100);
  if (!report.holds(all, "callers")) return;
  report.expect(all->size() >= 2, "inner has two callers or more");
  if (all->size() < 2) return;
  report.equal(all->at(0), program.return_address(hit).value_or(0), "the nearest caller");
  report.expect(program.within(all->at(0), "outer"), "the nearest caller is outer");
  report.expect(program.within(all->at(1), "main"), "the next caller is main");
  const auto one = debugger.callers(hit, 1);
  if (report.holds(one, "callers, at most one")) report.equal(one->size(), 1U, "callers, at most one");
}

constexpr std::array<Check, 9> kChecks{{
    {"launch_stops_at_entry", "calls", launch_stops_at_entry},
    {"handlers_see_every_thread", "threads", handlers_see_every_thread},
    {"no_hit_is_lost_at_requested_stops", "threads", no_hit_is_lost_at_requested_stops},
    {"breakpoints_inside_a_handler", "calls", breakpoints_inside_a_handler},
    {"breakpoints_at_one_address_are_independent", "calls", breakpoints_at_one_address_are_independent},
    {"breakpoints_on_neighbours", "calls", breakpoints_on_neighbours},
    {"memory_and_registers", "calls", memory_and_registers},
    {"a_jump_leaves_out_the_instruction", "calls", a_jump_leaves_out_the_instruction},
    {"callers_are_return_addresses", "calls", callers_are_return_addresses},
}};

}  // namespace

std::span<const Check> run_checks() { return kChecks; }

}  // namespace flamb::contract
