#include "code_path.h"

namespace flamb {
namespace {

// How far one path may go: only an endless loop has no branch for so long.
constexpr int max_blocks = 100'000;

}  // namespace

const MadeCall* OpenCalls::innermost() const {
  if (!made_.empty()) return &made_.back();
  return left_ > 0 ? &before_[left_ - 1] : nullptr;
}

void OpenCalls::pop() {
  if (!made_.empty()) {
    made_.pop_back();
  } else if (left_ > 0) {
    --left_;
  }
}

void OpenCalls::apply_to(std::vector<MadeCall>& calls) const {
  calls.resize(left_);
  calls.insert(calls.end(), made_.begin(), made_.end());
}

std::optional<CodePath::End> CodePath::follow(Position from, OpenCalls& calls, const Visit& visit) {
  for (int blocks = 0; blocks < max_blocks; ++blocks) {
    const Block& block = code_.block(from.pc);
    Step step{block, from.stack, stack_at_end(block, from.stack, calls), {}};
    step.then = outcome(step, calls);
    if (!visit(step)) return std::nullopt;
    if (!step.then) {
      return End{block.end, step.stack_at_end, block.stack_change || block.restores_stack, leaves_root(step, calls)};
    }
    if (block.end.kind == Transfer::Kind::call) calls.push({step.then->stack, block.end.next});
    if (block.end.kind == Transfer::Kind::ret) calls.pop();
    from = *step.then;
  }
  return std::nullopt;
}

// Where the step's transfer goes, if that is known.
std::optional<Position> CodePath::outcome(const Step& step, const OpenCalls& calls) {
  const Transfer& end = step.block.end;
  if (!step.stack_at_end) return std::nullopt;
  if (end.kind == Transfer::Kind::ret) {
    if (!returns(step, calls) || calls.innermost()->is_root) return std::nullopt;
    return Position{calls.innermost()->return_address, *step.stack_at_end + slot_size + end.pops};
  }
  if (!end.is_direct || end.kind == Transfer::Kind::conditional) return std::nullopt;
  const bool is_call = end.kind == Transfer::Kind::call;
  return Position{end.target, *step.stack_at_end - (is_call ? slot_size : 0)};
}

bool CodePath::leaves_root(const Step& step, const OpenCalls& calls) {
  return step.block.end.kind == Transfer::Kind::ret && returns(step, calls) && calls.innermost()->is_root;
}

// Is the step's transfer, a return, that from the innermost call?
bool CodePath::returns(const Step& step, const OpenCalls& calls) {
  const MadeCall* call = calls.innermost();
  return call != nullptr && call->slot == step.stack_at_end && !step.block.writes_return_address;
}

// A function that sets the stack pointer from the frame pointer before it leaves has it where it was at its entry, as
// its unwind information says.
std::optional<Address> CodePath::stack_at_end(const Block& block, Address stack, const OpenCalls& calls) {
  if (block.stack_change) return stack + static_cast<Address>(*block.stack_change);
  const MadeCall* call = calls.innermost();
  if (!block.restores_stack || call == nullptr || !is_at_entry_depth(block.end.address)) return std::nullopt;
  return call->slot;
}

bool CodePath::is_at_entry_depth(Address instruction) {
  const auto [known, is_new] = at_entry_depth_.try_emplace(instruction);
  if (is_new) {
    constexpr Address any_stack = 0x10000;  // the rule holds wherever the stack is
    known->second = program_.frame_slot(instruction + 1, any_stack, 0) == any_stack;
  }
  return known->second;
}

}  // namespace flamb
