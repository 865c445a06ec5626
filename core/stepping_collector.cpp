#include <algorithm>
#include <unordered_set>

#include "code_path.h"
#include "collector.h"
#include "inlined_segments.h"

// Counts every instruction without stepping: between two branches the code is known, so the target runs from one
// breakpoint to the next, each on an instruction whose outcome is not known beforehand (a conditional branch, an
// indirect jump or call). There the outcome is read off the registers, and the code from there on is followed by
// decoding it, up to the next such instruction. What lies between is counted when the target has got there.
//
// Code out of scope is followed in the same way, but counts for the frame at the border.
namespace flamb {
namespace {

// The dynamic loader's lazy binding ends in a jump to the function it has found, so many bytes from its entry at most.
constexpr std::size_t max_binding_code = 1024;

// Where a thread is going.
struct Run {
  Position from;            // counted up to here
  CodePath::End end;        // where it stops next
  bool is_known = false;    // false outside of any call, and where the thread cannot be followed
  bool is_binding = false;  // in the dynamic loader, on the way to a function: not counted
};

// Does the transfer change nothing but where the thread is?
bool is_mere_jump(const Transfer& transfer) {
  return transfer.kind == Transfer::Kind::jump || (transfer.kind == Transfer::Kind::conditional && !transfer.counts);
}

class SteppingCollector final : public Collector {
 public:
  SteppingCollector(Invocations& invocations, Unit unit)
      : invocations_(invocations),
        unit_(unit),
        path_(invocations.code, invocations.program),
        segments_(invocations.program) {}

  std::string_view name() const override { return "stepping"; }
  Unit unit() const override { return unit_; }
  void begin(Invocation& invocation) override;
  Verdict entered(Invocation& invocation, Address entry) override;
  void reach(Address entry) override;
  void end(Invocation& invocation) override;
  void signalled() override;
  void libraries_changed() override {
    segments_.forget();
    path_.forget();
  }

 private:
  // A run that a signal handler has interrupted.
  struct Interrupted {
    Run run;
    std::vector<MadeCall> calls;
    Address slot;  // of the handler's call
  };
  struct State {
    Run run;
    std::vector<MadeCall> calls;           // that are open where the run begins
    std::vector<Interrupted> interrupted;  // outermost first
    // A call of an IFUNC that is being bound: it begins where the stub jumps to.
    std::optional<ShadowStack::Call> forwarded;
  };

  // Following a run.
  void go(State& state, Position from);
  void expect(Run& run, const CodePath::End& end);
  bool passes(const State& state, const std::function<bool(const CodePath::Step&)>& where);
  bool is_in(const std::vector<MadeCall>& calls, Address stack);

  // Counting it.
  void account(Invocation& invocation, State& state, std::optional<Position> until);
  void follow(Invocation& invocation, State& state, const Transfer& transfer, Position to);
  void count(Invocation& invocation, const Block& block, std::uint64_t instructions);
  void call(Invocation& invocation, State& state, Address entry, const ShadowStack::Call& at);
  void jump(Invocation& invocation, State& state, Address from, Position to);
  void enter(Invocation& invocation, const Callee& callee, ShadowStack::Call at);

  // At a stop.
  Verdict at_transfer(ThreadId thread, Address where);
  bool is_at_end(const State& state, Position at);
  bool comes_by(const State& state, Position at);
  Verdict decide(Invocation& invocation, State& state, Address stack);
  void settle(Invocation& invocation, State& state, Address stack);
  void after_return(Invocation& invocation, State& state, Position to);
  bool begins_something(Address where) const;
  bool bind_lazily(Invocation& invocation, State& state, const Transfer& transfer, Position to);
  Verdict lose_track(Invocation& invocation, State& state, Position at);
  void interrupt(Invocation& invocation, State& state, Address slot, Address return_address);

  bool is_border(const ShadowStack& stack) const {
    return !stack.empty() && border_frames_.contains(stack.innermost().frame);
  }

  Invocations& invocations_;
  Unit unit_;
  CodePath path_;
  InlinedSegments segments_;
  std::unordered_map<ThreadId, State> states_;
  std::unordered_set<Address> watched_;        // transfers
  std::unordered_set<Address> entries_;        // entries that begin a call
  std::unordered_set<FrameId> border_frames_;  // frames of functions out of scope
};

void SteppingCollector::begin(Invocation& invocation) {
  State& state = states_[invocation.thread];
  state = State{};
  if (invocations_.catches_signals && invocations_.program.address_taken().size() <= max_watched_ahead) signalled();
  if (invocation.entry == 0) return;
  if (!invocations_.program.in_scope_at(invocation.entry)) border_frames_.insert(invocation.stack.innermost().frame);
  state.calls.push_back({invocation.slot, invocation.return_address, true});
  if (unit_ == Unit::calls) invocation.stack.weigh(1);
  go(state, {invocation.entry, invocation.slot});
}

// Lets the thread run from a position on: plants the breakpoint at which it will stop.
void SteppingCollector::go(State& state, Position from) {
  state.run = {};
  state.run.from = from;
  OpenCalls calls(state.calls);
  if (const auto end = path_.follow(from, calls, [](const CodePath::Step&) { return true; })) expect(state.run, *end);
}

void SteppingCollector::expect(Run& run, const CodePath::End& end) {
  run.end = end;
  run.is_known = true;
  const Address where = end.transfer.address;
  if (end.leaves_root) return;  // the capture has a breakpoint where it goes to
  if (!watched_.insert(where).second) return;
  invocations_.watch(where, [this, where](ThreadId thread) { return at_transfer(thread, where); });
}

// Does the run come by there?
bool SteppingCollector::passes(const State& state, const std::function<bool(const CodePath::Step&)>& where) {
  bool found = false;
  if (state.run.is_known) {
    OpenCalls calls(state.calls);
    path_.follow(state.run.from, calls, [&](const CodePath::Step& step) {
      found = found || where(step);
      return !found;
    });
  }
  return found;
}

// Are these calls open on the stopped thread, whose stack pointer is `stack`?
bool SteppingCollector::is_in(const std::vector<MadeCall>& calls, Address stack) {
  return std::all_of(calls.begin(), calls.end(), [&](const MadeCall& call) {
    return call.slot >= stack && read_word(invocations_.debugger, call.slot) == call.return_address;
  });
}

// Counts the run, to its end or to where a signal has interrupted it.
void SteppingCollector::account(Invocation& invocation, State& state, std::optional<Position> until) {
  if (!state.run.is_known || state.run.is_binding) return;
  OpenCalls calls(state.calls);
  path_.follow(state.run.from, calls, [&](const CodePath::Step& step) {
    const Block& block = step.block;
    if (until) {
      const auto at = std::find(block.instructions.begin(), block.instructions.end(), until->pc);
      if (at != block.instructions.end() && is_in(calls.made(), until->stack)) {
        count(invocation, block, static_cast<std::uint64_t>(at - block.instructions.begin()));
        return false;
      }
    }
    count(invocation, block, block.instructions.size());
    if (step.then) follow(invocation, state, block.end, *step.then);
    return true;
  });
  calls.apply_to(state.calls);
}

// A transfer within a run, whose outcome was known.
void SteppingCollector::follow(Invocation& invocation, State& state, const Transfer& transfer, Position to) {
  switch (transfer.kind) {
    case Transfer::Kind::call:
      return call(invocation, state, to.pc, {.slot = to.stack, .return_address = transfer.next});
    case Transfer::Kind::ret: return invocation.stack.settle(to.stack);
    default: return jump(invocation, state, transfer.address, to);
  }
}

void SteppingCollector::count(Invocation& invocation, const Block& block, std::uint64_t instructions) {
  invocation.events += instructions;
  if (invocation.stack.empty() || unit_ != Unit::instructions) return;
  if (is_border(invocation.stack)) {
    invocation.stack.weigh(instructions);
    return;
  }
  for (const InlinedSegment& segment : segments_.of(block)) {
    const std::uint64_t counted = std::min(segment.instructions, instructions);
    if (counted == 0) break;
    invocation.stack.set_inlined(segment.inlined);
    invocation.stack.weigh(counted);
    instructions -= counted;
  }
}

void SteppingCollector::enter(Invocation& invocation, const Callee& callee, ShadowStack::Call at) {
  if (callee.function == nullptr) border_frames_.insert(callee.frame);
  at.frame = callee.frame;
  invocation.stack.enter(at);
  if (unit_ == Unit::calls) invocation.stack.weigh(1);
}

void SteppingCollector::call(Invocation& invocation, State& state, Address entry, const ShadowStack::Call& at) {
  const Callee callee = invocations_.callee(entry);
  if (callee.resolver != nullptr) {
    state.forwarded = at;
  } else if (callee.function != nullptr || !is_border(invocation.stack)) {
    enter(invocation, callee, at);
  }
}

// A jump out of the function is a tail call: the stack pointer is where it was at entry.
void SteppingCollector::jump(Invocation& invocation, State& state, Address from, Position to) {
  const Program& program = invocations_.program;
  const Function* target = program.function_at(to.pc);
  if (state.forwarded && target != nullptr && state.forwarded->slot == to.stack) {
    const ShadowStack::Call at = *state.forwarded;
    state.forwarded.reset();
    call(invocation, state, to.pc, at);
    return;
  }
  if (invocation.stack.empty() || invocation.stack.innermost().slot != to.stack) return;
  if (target != nullptr && target == program.function_at(from) && target->start != to.pc) return;
  if (target != nullptr && target->is_cold_part) return;
  if (target == nullptr && program.module_at(to.pc) == program.module_at(from)) return;  // from PLT to PLT
  const Callee callee = invocations_.callee(to.pc);
  const bool is_entry = callee.function != nullptr || target == nullptr || target->start == to.pc;
  const ShadowStack::Call innermost = invocation.stack.innermost();
  if (!is_entry || callee.frame == innermost.frame) return;
  call(invocation, state, to.pc, {.slot = to.stack, .return_address = innermost.return_address});
}

Verdict SteppingCollector::at_transfer(ThreadId thread, Address where) {
  Invocation* invocation = invocations_.open_on(thread);
  const auto found = states_.find(thread);
  if (invocation == nullptr || found == states_.end()) return Verdict::go_on;
  State& state = found->second;
  const CodePath::End& end = state.run.end;
  if (!state.run.is_known || (state.run.is_binding && where != end.transfer.address)) return Verdict::go_on;

  const auto stack = invocations_.debugger.read_register(thread, Register::rsp);
  if (!stack) return invocations_.fail(stack.error());
  const Position at{where, *stack};
  if (!state.run.is_binding && !is_at_end(state, at)) {
    return comes_by(state, at) ? Verdict::go_on : lose_track(*invocation, state, at);
  }
  account(*invocation, state, std::nullopt);
  return decide(*invocation, state, at.stack);
}

// Is this where the run ends? Recursion may come by its last instruction before.
bool SteppingCollector::is_at_end(const State& state, Position at) {
  const CodePath::End& end = state.run.end;
  if (at.pc != end.transfer.address || end.leaves_root) return false;
  return end.stack ? *end.stack == at.stack : !comes_by(state, at);
}

// Is this a transfer on the run's way, whose outcome is known?
bool SteppingCollector::comes_by(const State& state, Position at) {
  return passes(state, [&](const CodePath::Step& step) {
    return step.block.end.address == at.pc && step.stack_at_end == at.stack;
  });
}

// The thread is at the transfer it was expected at.
Verdict SteppingCollector::decide(Invocation& invocation, State& state, Address stack) {
  const Transfer transfer = state.run.end.transfer;
  if (!state.run.end.keeps_stack) state.calls.clear();
  const auto destination = invocations_.code.destination(transfer, invocation.thread);
  state.run = {};
  if (!destination || transfer.kind == Transfer::Kind::none) return Verdict::go_on;  // it will fault by itself
  if (invocation.entry != 0 && stack > invocation.slot) return Verdict::go_on;       // longjmp has cut the trigger off

  settle(invocation, state, stack);
  if (transfer.kind == Transfer::Kind::ret) {
    after_return(invocation, state, {*destination, stack + slot_size + transfer.pops});
    return Verdict::go_on;
  }
  Position to{*destination, stack};
  if (transfer.kind == Transfer::Kind::call) {
    to.stack -= slot_size;
    state.calls.push_back({to.stack, transfer.next});
    call(invocation, state, to.pc, {.slot = to.stack, .return_address = transfer.next});
  } else if (bind_lazily(invocation, state, transfer, to)) {
    return Verdict::go_on;
  } else {
    jump(invocation, state, transfer.address, to);
  }
  go(state, to);
  if (is_mere_jump(transfer) && !begins_something(to.pc)) invocations_.debugger.jump(invocation.thread, to.pc);
  return Verdict::go_on;
}

// Where somebody may wait for a thread to come by: at our breakpoints, and at the debugger's own, which are at entries.
bool SteppingCollector::begins_something(Address where) const {
  const Function* function = invocations_.program.function_at(where);
  return invocations_.is_watched(where) || function == nullptr || function->start == where;
}

// Calls with their return address below the stack pointer are over.
void SteppingCollector::settle(Invocation& invocation, State& state, Address stack) {
  invocation.stack.settle(stack);
  while (!state.calls.empty() && state.calls.back().slot < stack) state.calls.pop_back();
}

void SteppingCollector::after_return(Invocation& invocation, State& state, Position to) {
  settle(invocation, state, to.stack);
  if (!state.interrupted.empty() && to.stack > state.interrupted.back().slot) {
    state.run = state.interrupted.back().run;
    state.calls = std::move(state.interrupted.back().calls);
    state.interrupted.pop_back();
    return;
  }
  const bool is_over = invocation.entry != 0 ? to.stack > invocation.slot : invocation.stack.empty();
  if (!is_over) go(state, to);
}

// A jump from a PLT to the dynamic loader, with two words pushed, goes on to a function found there: only that counts.
bool SteppingCollector::bind_lazily(Invocation& invocation, State& state, const Transfer& transfer, Position to) {
  if (transfer.kind != Transfer::Kind::jump || !transfer.operand.is_memory) return false;
  const auto from_module = invocations_.program.module_at(transfer.address);
  const auto to_module = invocations_.program.module_at(to.pc);
  const Address called_at = to.stack + 2 * slot_size;
  const bool is_call = (state.forwarded && state.forwarded->slot == called_at) ||
                       (!invocation.stack.empty() && invocation.stack.innermost().slot == called_at);
  if (!to_module || from_module == to_module || !is_call) return false;
  const auto leaves = invocations_.code.register_jump(to.pc, max_binding_code);
  if (!leaves) return false;
  expect(state.run, {*leaves});
  state.run.is_binding = true;
  return true;
}

// The thread is somewhere else than expected. Below the innermost call, that is in a signal handler whose entry was not
// watched.
Verdict SteppingCollector::lose_track(Invocation& invocation, State& state, Position at) {
  Debugger& debugger = invocations_.debugger;
  const auto frame_pointer = debugger.read_register(invocation.thread, Register::rbp);
  if (!frame_pointer) return invocations_.fail(frame_pointer.error());

  const Function* function = invocations_.program.function_at(at.pc);
  const auto slot = invocations_.program.frame_slot(at.pc + 1, at.stack, *frame_pointer);
  if (function != nullptr && slot) {
    const auto return_address = read_word(debugger, *slot);
    if (return_address && invocations_.code.interruption(*slot, *return_address)) {
      interrupt(invocation, state, *slot, *return_address);
      enter(invocation, invocations_.callee(function->start), {.slot = *slot, .return_address = *return_address});
    }
  }
  state.calls.clear();
  state.run = {};
  state.run.from = at;
  expect(state.run, {invocations_.code.block(at.pc).end});
  return decide(invocation, state, at.stack);
}

// Sets aside the run, counted as far as it got when the signal came.
void SteppingCollector::interrupt(Invocation& invocation, State& state, Address slot, Address return_address) {
  const auto interruption = invocations_.code.interruption(slot, return_address);
  Run rest = state.run;
  if (interruption) {
    const Position at{interruption->pc, interruption->stack};
    account(invocation, state, at);
    if (!rest.is_binding) rest.from = at;
    invocation.stack.settle(at.stack);
  }
  state.interrupted.push_back({rest, std::move(state.calls), slot});
  state.calls.clear();
}

// A trigger or another entry that is watched for its own sake.
Verdict SteppingCollector::entered(Invocation& invocation, Address entry) {
  State& state = states_[invocation.thread];
  if (state.run.is_binding) return Verdict::go_on;
  const auto slot = invocations_.debugger.read_register(invocation.thread, Register::rsp);
  if (!slot) return invocations_.fail(slot.error());
  const auto calls_entry = [&](const CodePath::Step& step) { return step.block.start == entry && step.stack == *slot; };
  if (passes(state, calls_entry)) return Verdict::go_on;
  const auto return_address = read_word(invocations_.debugger, *slot);
  if (!return_address) return invocations_.fail(return_address.error());

  if (state.run.is_known) interrupt(invocation, state, *slot, *return_address);
  enter(invocation, invocations_.callee(entry), {.slot = *slot, .return_address = *return_address});
  go(state, {entry, *slot});
  return Verdict::go_on;
}

void SteppingCollector::reach(Address entry) {
  if (!entries_.insert(entry).second) return;
  invocations_.watch(entry, [this, entry](ThreadId thread) {
    Invocation* invocation = invocations_.open_on(thread);
    return invocation != nullptr ? entered(*invocation, entry) : Verdict::go_on;
  });
}

void SteppingCollector::end(Invocation& invocation) {
  const auto found = states_.find(invocation.thread);
  if (found == states_.end() || !found->second.run.is_known) return;
  const auto pc = invocations_.debugger.read_register(invocation.thread, Register::rip);
  const auto stack = invocations_.debugger.read_register(invocation.thread, Register::rsp);
  account(invocation, found->second, pc && stack ? std::optional(Position{*pc, *stack}) : std::nullopt);
  states_.erase(found);
}

void SteppingCollector::signalled() {
  for (const Function* function : invocations_.program.address_taken()) {
    if (!function->is_ifunc) reach(function->start);
  }
}

}  // namespace

std::unique_ptr<Collector> make_stepping_collector(Invocations& invocations, Unit unit) {
  return std::make_unique<SteppingCollector>(invocations, unit);
}

}  // namespace flamb
