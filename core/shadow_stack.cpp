#include "shadow_stack.h"

#include <algorithm>

namespace flamb {

void ShadowStack::enter_root(const Call& call) {
  close();
  push(call);
  roots_ = 1;
}

void ShadowStack::enter(const Call& call, std::optional<Address> caller_slot) {
  while (calls_.size() > roots_ && calls_.back().slot <= call.slot) pop();
  if (caller_slot) {
    const auto caller =
        std::find_if(calls_.rbegin(), calls_.rend(), [&](const Call& open) { return open.slot >= *caller_slot; });
    if (caller != calls_.rend() && caller->slot == *caller_slot) {
      while (&calls_.back() != &*caller) pop();
    }
  }
  push(call);
}

void ShadowStack::settle(Address stack) {
  while (calls_.size() > roots_ && calls_.back().slot < stack) pop();
}

void ShadowStack::set_inlined(std::span<const FrameId> frames) {
  if (calls_.empty()) return;
  const auto open = std::span(inlined_).last(calls_.back().inlined);
  const auto shared = static_cast<std::size_t>(
      std::mismatch(open.begin(), open.end(), frames.begin(), frames.end()).first - open.begin());
  leave_inlined(shared);
  for (const FrameId frame : frames.subspan(shared)) {
    sink_.enter(frame);
    inlined_.push_back(frame);
  }
  calls_.back().inlined = frames.size();
}

void ShadowStack::close() {
  while (!calls_.empty()) pop();
  roots_ = 0;
}

void ShadowStack::push(const Call& call) {
  sink_.enter(call.frame);
  calls_.push_back(call);
  calls_.back().inlined = 0;
}

void ShadowStack::pop() {
  leave_inlined(0);
  sink_.leave();
  calls_.pop_back();
}

void ShadowStack::leave_inlined(std::size_t keep) {
  for (std::size_t open = calls_.back().inlined; open > keep; --open) {
    sink_.leave();
    inlined_.pop_back();
  }
}

}  // namespace flamb
