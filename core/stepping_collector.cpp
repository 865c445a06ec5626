#include <algorithm>
#include <array>
#include <unordered_set>

#include "collector.h"

// Counts every instruction without stepping: between two branches the code is known, so the target runs from one
// breakpoint to the next, each on an instruction whose outcome is not known beforehand (a conditional branch, an
// indirect jump or call, a return). There the outcome is read off the registers and the code from there on is followed
// by decoding it, up to the next such instruction. What lies between is counted when it is foreseen, before it has run.
//
// Code out of scope is followed in the same way, but counts for the frame at the border.
namespace flamb {
namespace {

constexpr std::size_t slot_size = sizeof(Address);

// How far one foreseen run may follow direct jumps and calls: only an endless loop has no branch for so long.
constexpr int max_blocks = 100'000;

// The dynamic loader's lazy binding ends in a jump to the function it has found, so many bytes from its entry at most.
constexpr std::size_t max_binding_code = 1024;

class SteppingCollector final : public Collector {
 public:
  SteppingCollector(Invocations& invocations, Unit unit) : invocations_(invocations), unit_(unit) {}

  std::string_view name() const override { return "stepping"; }
  Unit unit() const override { return unit_; }

  void begin(Invocation& invocation) override {
    State& state = states_[invocation.thread];
    state = State{};
    if (invocations_.catches_signals && invocations_.program.address_taken().size() <= max_watched_ahead) signalled();
    if (invocation.entry == 0) return;
    count_call(invocation);
    foresee(invocation, state, invocation.entry, invocation.slot);
  }

  Verdict entered(Invocation& invocation, Address entry) override;
  void reach(Address entry) override;
  void signalled() override;

 private:
  // Where a thread is going.
  struct State {
    Address expected = 0;     // the instruction at which it stops next; 0 outside of any call
    Transfer transfer;        // that instruction
    bool is_binding = false;  // in the dynamic loader, on the way to a function: not counted
    // Where a signal handler interrupted it, outermost first: it will be expected there again.
    struct Interrupted {
      Address expected;
      Transfer transfer;
      bool is_binding;
      Address slot;  // of the handler's call
    };
    std::vector<Interrupted> interrupted;
  };

  // Consecutive instructions of a block with the same frames inlined at them, outer first.
  struct Segment {
    std::vector<FrameId> inlined;
    std::uint64_t instructions = 0;
  };

  void foresee(Invocation& invocation, State& state, Address pc, Address stack);
  void expect(State& state, const Transfer& transfer);
  Verdict at_transfer(ThreadId thread, Address where);
  Verdict decide(Invocation& invocation, State& state);
  void arrive(Invocation& invocation, State& state, Address pc, Address stack, std::optional<Address> called_from);
  bool bind_lazily(Invocation& invocation, State& state, Address pc, Address stack);
  bool end_interruption(State& state, Address stack);
  Verdict interrupt(Invocation& invocation, State& state, Address where);
  void count(Invocation& invocation, const Block& block);
  const std::vector<Segment>& segments(const Block& block);
  void call(Invocation& invocation, Address entry, Address slot, Address return_address);
  void jump(Invocation& invocation, Address from, Address to, Address stack);
  void count_call(Invocation& invocation) const {
    if (unit_ == Unit::calls) invocation.stack.weigh(1);
  }
  bool is_border(const ShadowStack& stack) const {
    return !stack.empty() && border_frames_.contains(stack.innermost().frame);
  }

  Invocations& invocations_;
  Unit unit_;
  std::unordered_map<ThreadId, State> states_;
  std::unordered_set<Address> watched_;                         // transfers
  std::unordered_set<Address> entries_;                         // entries that begin a call
  std::unordered_set<FrameId> border_frames_;                   // frames of functions out of scope
  std::unordered_map<Address, std::vector<Segment>> segments_;  // by block
};

// Plants the breakpoint of a transfer that a thread is going to reach.
void SteppingCollector::expect(State& state, const Transfer& transfer) {
  state.expected = transfer.address;
  state.transfer = transfer;
  if (!watched_.insert(transfer.address).second) return;
  invocations_.watch(transfer.address,
                     [this, where = transfer.address](ThreadId thread) { return at_transfer(thread, where); });
}

// Counts the code from `pc` on, up to the next transfer whose outcome is not known.
void SteppingCollector::foresee(Invocation& invocation, State& state, Address pc, Address stack) {
  for (int blocks = 0; blocks < max_blocks; ++blocks) {
    const Block& block = invocations_.code.block(pc);
    count(invocation, block);
    const bool is_known = block.end.is_direct && block.end.kind != Transfer::Kind::conditional &&
                          (block.end.kind == Transfer::Kind::jump || block.stack_change);
    if (!is_known) {
      expect(state, block.end);
      return;
    }
    const Address then = stack + static_cast<Address>(block.stack_change.value_or(0));
    if (block.end.kind == Transfer::Kind::call) {
      call(invocation, block.end.target, then - slot_size, block.end.next);
      stack = then - slot_size;
    } else {
      jump(invocation, block.end.address, block.end.target, then);
      stack = then;
    }
    pc = block.end.target;
  }
  state.expected = 0;
}

void SteppingCollector::count(Invocation& invocation, const Block& block) {
  invocation.events += block.instructions.size();
  if (invocation.stack.empty() || unit_ != Unit::instructions) return;
  if (is_border(invocation.stack)) {
    invocation.stack.weigh(block.instructions.size());
    return;
  }
  for (const Segment& segment : segments(block)) {
    invocation.stack.set_inlined(segment.inlined);
    invocation.stack.weigh(segment.instructions);
  }
}

const std::vector<SteppingCollector::Segment>& SteppingCollector::segments(const Block& block) {
  const auto [entry, is_new] = segments_.try_emplace(block.start);
  if (!is_new) return entry->second;
  const Function* function = invocations_.program.function_at(block.start);
  for (const Address address : block.instructions) {
    std::vector<FrameId> inlined;
    if (function != nullptr) {
      for (const InlinedRange& range : invocations_.program.inlined(*function)) {
        if (range.start > address) break;
        if (address < range.end) inlined.push_back(range.frame);
      }
    }
    if (entry->second.empty() || entry->second.back().inlined != inlined) entry->second.push_back({inlined, 0});
    ++entry->second.back().instructions;
  }
  return entry->second;
}

void SteppingCollector::call(Invocation& invocation, Address entry, Address slot, Address return_address) {
  const Callee callee = callee_at(invocations_.program, entry);
  const bool is_own = callee.function != nullptr;
  if (!is_own && is_border(invocation.stack)) return;  // within code out of scope
  if (!is_own) border_frames_.insert(callee.frame);
  invocation.stack.enter({.slot = slot, .return_address = return_address, .frame = callee.frame});
  count_call(invocation);
}

// A jump out of the function is a tail call: the stack pointer is where it was at entry.
void SteppingCollector::jump(Invocation& invocation, Address from, Address to, Address stack) {
  const Program& program = invocations_.program;
  if (invocation.stack.empty() || invocation.stack.innermost().slot != stack) return;
  const Function* target = program.function_at(to);
  if (target != nullptr && target == program.function_at(from) && target->start != to) return;
  if (target != nullptr && target->is_cold_part) return;
  if (target == nullptr && program.module_at(to) == program.module_at(from)) return;  // from PLT to PLT
  const Callee callee = callee_at(invocations_.program, to);
  const bool is_entry = callee.function != nullptr || target == nullptr || target->start == to;
  if (!is_entry || callee.frame == invocation.stack.innermost().frame) return;
  const Address return_address = invocation.stack.innermost().return_address;
  call(invocation, to, stack, return_address);
}

Verdict SteppingCollector::at_transfer(ThreadId thread, Address where) {
  Invocation* invocation = invocations_.open_on(thread);
  const auto found = states_.find(thread);
  if (invocation == nullptr || found == states_.end()) return Verdict::go_on;
  State& state = found->second;
  if (state.expected == 0 || (state.is_binding && state.expected != where)) return Verdict::go_on;
  if (state.expected != where && interrupt(*invocation, state, where) == Verdict::stop) return Verdict::stop;
  return decide(*invocation, state);
}

// The thread is at the transfer it was expected at.
Verdict SteppingCollector::decide(Invocation& invocation, State& state) {
  Debugger& debugger = invocations_.debugger;
  const Transfer transfer = state.transfer;
  const auto stack = debugger.read_register(invocation.thread, Register::rsp);
  if (!stack) return invocations_.fail(stack.error());
  const auto destination = invocations_.code.destination(transfer, invocation.thread);
  if (!destination || transfer.kind == Transfer::Kind::none) return Verdict::go_on;  // it will fault by itself

  if (invocation.entry != 0 && *stack > invocation.slot) {  // longjmp has cut the trigger off
    state.expected = 0;
    return Verdict::go_on;
  }
  invocation.stack.settle(*stack);
  switch (transfer.kind) {
    case Transfer::Kind::call: arrive(invocation, state, *destination, *stack - slot_size, transfer.next); break;
    case Transfer::Kind::ret: {
      const Address after = *stack + slot_size + transfer.pops;
      invocation.stack.settle(after);
      const bool is_over = invocation.entry != 0 ? after > invocation.slot : invocation.stack.empty();
      if (is_over) {
        state.expected = 0;
      } else if (!end_interruption(state, after)) {
        arrive(invocation, state, *destination, after, {});
      }
      break;
    }
    default: arrive(invocation, state, *destination, *stack, {}); break;
  }
  return Verdict::go_on;
}

void SteppingCollector::arrive(Invocation& invocation, State& state, Address pc, Address stack,
                               std::optional<Address> called_from) {
  const bool is_branch = state.transfer.kind == Transfer::Kind::conditional;
  if (called_from) {
    call(invocation, pc, stack, *called_from);
  } else if (state.transfer.kind == Transfer::Kind::jump && bind_lazily(invocation, state, pc, stack)) {
    return;
  } else if (state.transfer.kind == Transfer::Kind::jump || is_branch) {
    jump(invocation, state.transfer.address, pc, stack);
  }
  state.is_binding = false;
  foresee(invocation, state, pc, stack);
}

// A jump from a PLT to the dynamic loader, with two words pushed, goes on to a function found there: only that counts.
bool SteppingCollector::bind_lazily(Invocation& invocation, State& state, Address pc, Address stack) {
  const Program& program = invocations_.program;
  const auto from = program.module_at(state.transfer.address);
  const auto to = program.module_at(pc);
  if (invocation.stack.empty() || !to || from == to) return false;
  if (stack + 2 * slot_size != invocation.stack.innermost().slot || !state.transfer.operand.is_memory) return false;
  const auto leaves = invocations_.code.register_jump(pc, max_binding_code);
  if (!leaves) return false;
  state.is_binding = true;
  expect(state, *leaves);
  return true;
}

bool SteppingCollector::end_interruption(State& state, Address stack) {
  if (state.interrupted.empty() || stack <= state.interrupted.back().slot) return false;
  const State::Interrupted& before = state.interrupted.back();
  state.expected = before.expected;
  state.transfer = before.transfer;
  state.is_binding = before.is_binding;
  state.interrupted.pop_back();
  return true;
}

// The thread is somewhere else than expected. If that is below the innermost call, a signal handler runs whose entry
// was not watched.
Verdict SteppingCollector::interrupt(Invocation& invocation, State& state, Address where) {
  const auto stack = invocations_.debugger.read_register(invocation.thread, Register::rsp);
  if (!stack) return invocations_.fail(stack.error());
  const auto frame_pointer = invocations_.debugger.read_register(invocation.thread, Register::rbp);
  if (!frame_pointer) return invocations_.fail(frame_pointer.error());

  const Function* function = invocations_.program.function_at(where);
  const auto slot = invocations_.program.frame_slot(where + 1, *stack, *frame_pointer);
  if (function != nullptr && slot && !invocation.stack.empty() && *slot < invocation.stack.innermost().slot) {
    const Callee callee = callee_at(invocations_.program, function->start);
    state.interrupted.push_back({state.expected, state.transfer, state.is_binding, *slot});
    if (callee.function == nullptr) border_frames_.insert(callee.frame);
    invocation.stack.enter({.slot = *slot, .frame = callee.frame});
    count_call(invocation);
  }
  state.expected = where;
  state.transfer = invocations_.code.block(where).end;
  return Verdict::go_on;
}

Verdict SteppingCollector::entered(Invocation& invocation, Address entry) {
  State& state = states_[invocation.thread];
  const auto slot = invocations_.debugger.read_register(invocation.thread, Register::rsp);
  if (!slot) return invocations_.fail(slot.error());
  const auto calls = invocation.stack.calls();
  const bool is_foreseen =
      std::any_of(calls.rbegin(), calls.rend(), [&](const ShadowStack::Call& open) { return open.slot == *slot; });
  if (is_foreseen || state.is_binding) return Verdict::go_on;
  const auto return_address = read_word(invocations_.debugger, *slot);
  if (!return_address) return invocations_.fail(return_address.error());

  if (state.expected != 0) {
    state.interrupted.push_back({state.expected, state.transfer, state.is_binding, *slot});
  }
  const Callee callee = callee_at(invocations_.program, entry);
  if (callee.function == nullptr) border_frames_.insert(callee.frame);
  invocation.stack.enter({.slot = *slot, .return_address = *return_address, .frame = callee.frame});
  count_call(invocation);
  foresee(invocation, state, entry, *slot);
  return Verdict::go_on;
}

void SteppingCollector::reach(Address entry) {
  if (!entries_.insert(entry).second) return;
  invocations_.watch(entry, [this, entry](ThreadId thread) {
    Invocation* invocation = invocations_.open_on(thread);
    return invocation != nullptr ? entered(*invocation, entry) : Verdict::go_on;
  });
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
