#include <algorithm>
#include <limits>
#include <unordered_set>

#include "collector.h"

// Counts calls by a breakpoint at the entry of every function that can be reached: one stop a call. Returns need none
// (see ShadowStack).
//
// What can be reached is found as the target runs: when a function is entered for the first time, the targets of its
// calls get breakpoints. Calls out of scope are caught at their PLT entry; indirect ones at the call itself, because
// only there their target is known.
namespace flamb {
namespace {

class BreakpointCollector final : public Collector {
 public:
  explicit BreakpointCollector(Invocations& invocations) : invocations_(invocations) {}

  std::string_view name() const override { return "breakpoints"; }
  Unit unit() const override { return Unit::calls; }

  void begin(Invocation& invocation) override {
    watch_callbacks(max_watched_ahead);
    if (invocation.entry == 0) return;
    invocation.stack.weigh(1);
    ++invocation.events;
    explore(invocation.entry);
  }

  Verdict entered(Invocation& invocation, Address entry) override {
    return record(invocation, invocations_.callee(entry));
  }

  void reach(Address entry) override;
  void end(Invocation&) override {}  // every call was counted when it began
  void libraries_changed() override {
    has_watched_callbacks_ = false;
    watch_callbacks(max_watched_ahead);
  }
  void signalled() override { watch_callbacks(std::numeric_limits<std::size_t>::max()); }

 private:
  void explore(Address entry);
  void explore_transfer(const Transfer& transfer);
  void watch_callbacks(std::size_t limit);
  void watch_border(Address entry, FrameId frame);
  void watch_site(const Transfer& transfer);
  void watch_loop(const Transfer& transfer, Address start);
  Verdict at_site(Invocation& invocation, const Transfer& transfer);
  Verdict record(Invocation& invocation, const Callee& callee);
  Result<std::optional<Address>> caller_slot(Invocation& invocation, Address slot, Address return_address);
  std::optional<Address> innermost_border(const ShadowStack& stack) const;

  Invocations& invocations_;
  std::unordered_set<Address> reached_;  // entries and call sites that have a breakpoint
  std::unordered_set<Address> explored_;
  std::unordered_set<FrameId> border_frames_;
  std::unordered_set<ThreadId> looping_;  // about to come by the entry of the function they are in
  bool has_watched_callbacks_ = false;
};

void BreakpointCollector::reach(Address entry) {
  if (invocations_.triggers.contains(entry) || !reached_.insert(entry).second) return;
  const Callee callee = invocations_.callee(entry);
  if (callee.resolver != nullptr) {
    explore(callee.resolver->start);  // it takes the addresses of the functions it chooses from
    return;
  }
  if (callee.function == nullptr) {
    watch_border(entry, callee.frame);
    return;
  }
  if (callee.function->start != entry) {  // through the PLT into a module in scope
    reach(callee.function->start);
    return;
  }
  invocations_.watch(entry, [this, callee](ThreadId thread) {
    Invocation* invocation = invocations_.open_on(thread);
    return invocation != nullptr ? record(*invocation, callee) : Verdict::go_on;
  });
}

// A function out of scope is a leaf: only calls from code in scope (or from an apply's expression) count.
void BreakpointCollector::watch_border(Address entry, FrameId frame) {
  border_frames_.insert(frame);
  invocations_.watch(entry, [this, frame](ThreadId thread) {
    Invocation* invocation = invocations_.open_on(thread);
    if (invocation == nullptr) return Verdict::go_on;
    const auto slot = invocations_.debugger.read_register(thread, Register::rsp);
    if (!slot) return invocations_.fail(slot.error());
    const auto caller = read_word(invocations_.debugger, *slot);
    if (!caller) return invocations_.fail(caller.error());
    const bool is_internal = invocations_.program.module_at(*caller) && !invocations_.program.in_scope_at(*caller);
    return is_internal ? Verdict::go_on : record(*invocation, {nullptr, frame, nullptr});
  });
}

void BreakpointCollector::explore(Address entry) {
  if (!explored_.insert(entry).second) return;
  const Function* function = invocations_.program.function_at(entry);
  if (function == nullptr) return;
  const References references = invocations_.code.references(function->start, function->end);
  for (const Transfer& transfer : references.transfers) {
    const bool is_loop =
        transfer.is_direct && transfer.target == function->start && transfer.kind != Transfer::Kind::call;
    if (is_loop) {
      watch_loop(transfer, function->start);
    } else {
      explore_transfer(transfer);
    }
  }
  for (const Address address : references.addresses) {
    const Function* taken = invocations_.program.function_at(address);
    if (taken != nullptr && taken->start == address && invocations_.program.in_scope(taken->module)) reach(address);
  }
}

void BreakpointCollector::explore_transfer(const Transfer& transfer) {
  if (transfer.is_switch) return;
  if (!transfer.is_direct) {
    watch_site(transfer);
    return;
  }
  const Function* target = invocations_.program.function_at(transfer.target);
  const bool is_inside = target != nullptr && target->start != transfer.target;
  if (target != nullptr && target->is_cold_part) {
    explore(target->start);
  } else if (!is_inside) {
    reach(transfer.target);
  }
}

void BreakpointCollector::watch_site(const Transfer& transfer) {
  if (!reached_.insert(transfer.address).second) return;
  invocations_.watch(transfer.address, [this, transfer](ThreadId thread) {
    Invocation* invocation = invocations_.open_on(thread);
    return invocation != nullptr ? at_site(*invocation, transfer) : Verdict::go_on;
  });
}

// A loop that begins with the function's first instruction comes by the entry at each turn.
void BreakpointCollector::watch_loop(const Transfer& transfer, Address start) {
  invocations_.watch(transfer.address, [this, transfer, start](ThreadId thread) {
    const auto destination = invocations_.code.destination(transfer, thread);
    if (destination && *destination == start) looping_.insert(thread);
    return Verdict::go_on;
  });
}

Verdict BreakpointCollector::at_site(Invocation& invocation, const Transfer& transfer) {
  const auto destination = invocations_.code.destination(transfer, invocation.thread);
  if (!destination) return Verdict::go_on;  // a wild pointer: the target will fault by itself
  const Function* target = invocations_.program.function_at(*destination);
  const bool is_inside = target != nullptr && target->start != *destination;
  if (is_inside && invocations_.program.in_scope(target->module)) return Verdict::go_on;  // a switch
  const Callee callee = invocations_.callee(*destination);
  if (callee.resolver != nullptr) {
    explore(callee.resolver->start);
    return Verdict::go_on;
  }
  if (callee.function != nullptr) {
    reach(callee.function->start);
    return Verdict::go_on;
  }
  border_frames_.insert(callee.frame);
  const auto stack = invocations_.debugger.read_register(invocation.thread, Register::rsp);
  if (!stack) return invocations_.fail(stack.error());
  const bool is_call = transfer.kind == Transfer::Kind::call;
  invocation.stack.settle(*stack);
  invocation.stack.enter({.slot = is_call ? *stack - sizeof(Address) : *stack, .frame = callee.frame});
  invocation.stack.weigh(1);
  ++invocation.events;
  return Verdict::go_on;
}

void BreakpointCollector::watch_callbacks(std::size_t limit) {
  if (has_watched_callbacks_) return;
  const auto functions = invocations_.program.address_taken();
  if (functions.size() > limit) return;
  has_watched_callbacks_ = true;
  for (const Function* function : functions) {
    if (!function->is_ifunc) reach(function->start);
  }
}

// The thread is at an entry: the stack pointer is the slot of the call.
Verdict BreakpointCollector::record(Invocation& invocation, const Callee& callee) {
  if (looping_.erase(invocation.thread) != 0) return Verdict::go_on;
  Debugger& debugger = invocations_.debugger;
  const auto slot = debugger.read_register(invocation.thread, Register::rsp);
  if (!slot) return invocations_.fail(slot.error());
  if (callee.function != nullptr) explore(callee.function->start);

  const auto return_address = read_word(debugger, *slot);
  if (!return_address) return invocations_.fail(return_address.error());
  const bool is_left =
      *slot > invocation.slot || (*slot == invocation.slot && *return_address != invocation.return_address);
  if (invocation.entry != 0 && is_left) return invocations_.on_left(invocation);

  const auto caller = caller_slot(invocation, *slot, *return_address);
  if (!caller) return invocations_.fail(caller.error());
  invocation.stack.enter({.slot = *slot, .return_address = *return_address, .frame = callee.frame}, *caller);
  invocation.stack.weigh(1);
  ++invocation.events;
  return Verdict::go_on;
}

// Where the call's caller lies on the stack, as far as that can be known.
Result<std::optional<Address>> BreakpointCollector::caller_slot(Invocation& invocation, Address slot,
                                                                Address return_address) {
  if (const auto interrupted = invocations_.code.interruption(slot, return_address)) {
    invocation.stack.settle(interrupted->stack);
    return std::nullopt;
  }
  if (invocations_.program.module_at(return_address) && !invocations_.program.in_scope_at(return_address)) {
    return innermost_border(invocation.stack);
  }
  const auto frame_pointer = invocations_.debugger.read_register(invocation.thread, Register::rbp);
  if (!frame_pointer) return tl::unexpected(frame_pointer.error());
  return invocations_.program.frame_slot(return_address, slot + sizeof(Address), *frame_pointer);
}

// Code out of scope calls back from the last function that was called there: what lies above that on the stack has
// returned.
std::optional<Address> BreakpointCollector::innermost_border(const ShadowStack& stack) const {
  const auto calls = stack.calls();
  const auto border = std::find_if(calls.rbegin(), calls.rend(),
                                   [&](const ShadowStack::Call& call) { return border_frames_.contains(call.frame); });
  return border != calls.rend() ? std::optional(border->slot) : std::nullopt;
}

}  // namespace

std::unique_ptr<Collector> make_breakpoint_collector(Invocations& invocations) {
  return std::make_unique<BreakpointCollector>(invocations);
}

}  // namespace flamb
