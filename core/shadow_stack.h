#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "call_sink.h"
#include "debugger.h"

namespace flamb {

// The calls that are open on one thread during an invocation, told from each other by where their return address lies.
//
// The stack grows down: a call whose slot is below the stack pointer has returned, or was cut by longjmp or an
// exception. So no event is needed for a return; recursion, tail calls, longjmp and exceptions need no care of their
// own.
class ShadowStack {
 public:
  struct Call {
    Address slot = 0;  // where the return address lies: the stack pointer at entry
    Address return_address = 0;
    FrameId frame = 0;
    std::size_t inlined = 0;  // how many inlined frames are open within it
  };

  explicit ShadowStack(CallSink& sink) : sink_(sink) {}

  // The trigger: never replaced by what it tail-calls, which becomes its child.
  void enter_root(const Call& call);

  // A call is entered. Calls with their slot at or below it are over: they returned, or tail-called this one. If the
  // caller's own slot is known, calls above the caller are over too.
  void enter(const Call& call, std::optional<Address> caller_slot = {});

  // Calls with their slot below the stack pointer are over; the root stays.
  void settle(Address stack);

  // The frames inlined at the point that the innermost call has reached, outer first.
  void set_inlined(std::span<const FrameId> frames);

  void weigh(std::uint64_t weight) { sink_.weigh(weight); }

  // Closes everything, the root too.
  void close();

  bool empty() const { return calls_.empty(); }
  const Call& innermost() const { return calls_.back(); }
  std::span<const Call> calls() const { return calls_; }  // root first

 private:
  void push(const Call& call);
  void pop();
  void leave_inlined(std::size_t keep);

  CallSink& sink_;
  std::vector<Call> calls_;
  std::vector<FrameId> inlined_;  // open inlined frames of all calls, innermost last
  std::size_t roots_ = 0;         // 1 if the first call is the root
};

}  // namespace flamb
