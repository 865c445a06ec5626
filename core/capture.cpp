#include "capture.h"

#include <algorithm>

#include "deadline.h"
#include "proc.h"
#include "stop_reason.h"

namespace flamb {
namespace {

constexpr std::string_view left_without_return = "it was left without a return";
constexpr std::size_t max_callers = 10'000;
constexpr std::size_t max_expression_code = 4096;

}  // namespace

Capture::Capture(Invocations& invocations, Collector& collector, Settings settings)
    : invocations_(invocations), collector_(collector), settings_(std::move(settings)) {
  invocations_.on_left = [this](Invocation& left) { return end(left, why_left(left.thread, left_without_return)); };
}

Result<Collection> Capture::wait() {
  const auto target = invocations_.debugger.target();
  if (!target) return tl::unexpected(target.error());
  target_ = *target;
  watch_triggers();

  const Deadline deadline(settings_.timeout, [&] { invocations_.debugger.interrupt(); });
  while (!invocations_.failure) {
    const auto stop = invocations_.debugger.resume();
    has_timed_out_ = deadline.has_expired();
    if (!stop) {
      end_all(stop.error().message);
      invocations_.failure = stop.error();
    } else if (const auto taken = take_values(); !taken) {
      invocations_.failure = taken.error();
    } else if (is_over() || !goes_on_after(*stop)) {
      const std::string why = is_over() ? "" : reason(*stop);
      end_all(why);
      return collection(why);
    }
  }
  end_all(invocations_.failure->message);
  if (finished_.empty()) return tl::unexpected(*invocations_.failure);
  return collection(invocations_.failure->message);
}

Result<Collection> Capture::call() {
  Debugger& debugger = invocations_.debugger;
  const auto target = debugger.target();
  if (!target) return tl::unexpected(target.error());
  target_ = *target;
  const auto thread = debugger.selected_thread();
  if (!thread) return tl::unexpected(thread.error());

  const Deadline deadline(settings_.timeout, [&] { debugger.interrupt(); });
  auto& invocation = invocations_.open[*thread] = std::make_unique<Invocation>(*thread, settings_.tree);
  invocation->profile.trigger = settings_.trigger;
  invocation->profile.date = std::chrono::system_clock::now();
  const auto outcome = debugger.call(settings_.trigger, [&](ThreadId, Address code) {
    if (!is_prepared_) {
      prepare();
      collector_.begin(*invocations_.open_on(*thread));
    }
    watch_expression(code);
  });
  has_timed_out_ = deadline.has_expired();
  if (!outcome) return tl::unexpected(outcome.error());
  if (outcome->finished) values_.push_back(outcome->value);
  const std::string why = outcome->finished ? "" : reason(outcome->stop);
  end_all(why);
  if (invocations_.failure) return tl::unexpected(*invocations_.failure);
  return collection(why);
}

void Capture::watch_triggers() {
  for (const Function* trigger : invocations_.program.find(settings_.trigger).functions) {
    if (trigger->is_ifunc || trigger->is_cold_part || !invocations_.triggers.insert(trigger->start).second) continue;
    invocations_.program.take_into_scope(trigger->start);
    invocations_.watch(trigger->start, [this, trigger](ThreadId thread) { return at_trigger(*trigger, thread); });
  }
}

Verdict Capture::at_trigger(const Function& trigger, ThreadId thread) {
  const auto slot = invocations_.debugger.read_register(thread, Register::rsp);
  if (!slot) return invocations_.fail(slot.error());
  if (Invocation* open = invocations_.open_on(thread)) {
    if (*slot <= open->slot) return collector_.entered(*open, trigger.start);
    if (invocations_.on_left(*open) == Verdict::stop) return Verdict::stop;
  }
  return begun_ < settings_.count ? begin(trigger, thread, *slot) : Verdict::go_on;
}

Verdict Capture::begin(const Function& trigger, ThreadId thread, Address slot) {
  const auto return_address = read_word(invocations_.debugger, slot);
  if (!return_address) return invocations_.fail(return_address.error());
  if (settings_.wants_values) {
    const auto expected = invocations_.debugger.expect_return_value(thread);
    if (!expected) return invocations_.fail(expected.error());
  }
  prepare();

  auto& invocation = invocations_.open[thread] = std::make_unique<Invocation>(thread, settings_.tree);
  invocation->entry = trigger.start;
  invocation->slot = slot;
  invocation->return_address = *return_address;
  invocation->profile.trigger = trigger.name;
  invocation->profile.parts.front().invocation = ++begun_;
  invocation->profile.date = std::chrono::system_clock::now();
  if (settings_.callers) enter_callers(*invocation);
  invocation->stack.enter_root(
      {.slot = slot, .return_address = *return_address, .frame = invocations_.program.frame(trigger)});
  watch_return(*return_address);
  collector_.begin(*invocation);
  return Verdict::go_on;
}

// What is needed from the first invocation on.
void Capture::prepare() {
  if (is_prepared_) return;
  is_prepared_ = true;
  if (target_.is_local && target_.pid > 0) {
    const auto pid = static_cast<pid_t>(target_.pid);
    affinity_.emplace(pid);
    invocations_.catches_signals = catches_signals(pid);
  }
  watch_cuts();
}

// The functions that called the trigger: frames above it, which belong to the tree but not to the invocation.
void Capture::enter_callers(Invocation& invocation) {
  const auto callers = invocations_.debugger.callers(invocation.thread, max_callers);
  if (!callers) return;
  for (auto caller = callers->rbegin(); caller != callers->rend(); ++caller) {
    const Function* function = invocations_.program.function_at(*caller - 1);
    invocation.recording.enter(function != nullptr ? invocations_.program.frame(*function)
                                                   : invocations_.program.unknown_frame(*caller));
  }
}

void Capture::watch_return(Address where) {
  if (!returns_.insert(where).second) return;
  invocations_.watch(where, [this, where](ThreadId thread) {
    Invocation* open = invocations_.open_on(thread);
    if (open == nullptr || open->return_address != where) return Verdict::go_on;
    const auto stack = invocations_.debugger.read_register(thread, Register::rsp);
    if (!stack) return invocations_.fail(stack.error());
    return *stack > open->slot ? end(*open, "") : Verdict::go_on;
  });
}

Verdict Capture::end(Invocation& invocation, std::string why_incomplete) {
  collector_.end(invocation);
  invocation.stack.close();
  invocation.recording.finish();
  const bool returned = why_incomplete.empty();
  invocation.profile.incomplete = std::move(why_incomplete);
  auto node = invocations_.open.extract(invocation.thread);
  finished_.push_back(std::move(node.mapped()));
  return is_over() || (settings_.wants_values && returned) ? Verdict::stop : Verdict::go_on;
}

void Capture::end_all(const std::string& why_incomplete) {
  while (!invocations_.open.empty()) end(*invocations_.open.begin()->second, why_incomplete);
}

const Function* Capture::find_exported(std::string_view linkage_name) const {
  const Function* function = invocations_.program.definition(linkage_name);
  return function != nullptr ? function : invocations_.program.exported(linkage_name);
}

// An invocation that is cut off above its trigger never reaches its return address. What cuts comes by one of these.
void Capture::watch_cuts() {
  for (const char* landing : {"__cxa_begin_catch", "_Unwind_Resume"}) {
    if (const Function* function = find_exported(landing)) {
      invocations_.watch(function->start,
                         [this](ThreadId thread) { return cut(thread, "an exception left it", nullptr); });
    }
  }
  if (const Function* function = find_exported("pthread_exit")) {
    invocations_.watch(function->start, [this](ThreadId thread) {
      exiting_.insert(thread);
      return Verdict::go_on;
    });
  }
  for (const Transfer& exit : longjmp_exits()) {
    invocations_.watch(exit.address, [this, exit](ThreadId thread) { return cut(thread, "longjmp left it", &exit); });
  }
}

Verdict Capture::cut(ThreadId thread, std::string_view why, const Transfer* leaving) {
  Invocation* open = invocations_.open_on(thread);
  if (open == nullptr || open->entry == 0) return Verdict::go_on;
  const auto stack = invocations_.debugger.read_register(thread, Register::rsp);
  if (!stack) return invocations_.fail(stack.error());
  // A function that the trigger's caller calls has its slot where the trigger had it.
  const bool is_left = leaving == nullptr ? *stack >= open->slot : *stack > open->slot;
  if (!is_left) return Verdict::go_on;

  const Verdict verdict = end(*open, why_left(thread, why));
  if (verdict == Verdict::go_on || leaving == nullptr) return verdict;
  const auto landing = invocations_.code.destination(*leaving, thread);
  if (!landing || !landings_.insert(*landing).second) return verdict;
  invocations_.watch(*landing, [thread](ThreadId at) { return at == thread ? Verdict::stop : Verdict::go_on; });
  return Verdict::go_on;  // and stop where longjmp lands, not inside it
}

std::string Capture::why_left(ThreadId thread, std::string_view why) const {
  return exiting_.contains(thread) ? "its thread exited" : std::string(why);
}

// longjmp ends, some calls down, in a jump through a register with the stack pointer restored.
std::vector<Transfer> Capture::longjmp_exits() {
  constexpr std::size_t max_functions = 200;
  std::vector<Address> entries;
  for (const char* name : {"siglongjmp", "longjmp", "__longjmp_chk", "pthread_exit"}) {
    if (const Function* function = find_exported(name)) entries.push_back(function->start);
  }
  std::vector<Transfer> exits;
  std::unordered_set<Address> seen;
  for (std::size_t next = 0; next < entries.size() && seen.size() < max_functions; ++next) {
    const Function* function = invocations_.program.function_at(entries[next]);
    if (function == nullptr || function->start != entries[next] || !seen.insert(function->start).second) continue;
    const References references = invocations_.code.references(function->start, function->end);
    // A thread's end is unwound to by a function that is passed on by its address.
    entries.insert(entries.end(), references.addresses.begin(), references.addresses.end());
    for (const Transfer& transfer : references.transfers) {
      if (transfer.is_direct) {
        entries.push_back(transfer.target);
      } else if (transfer.kind == Transfer::Kind::jump && transfer.follows_stack_switch) {
        exits.push_back(transfer);
      }
    }
  }
  return exits;
}

// Watches the functions that an apply's expression calls: `code` is one of them, or what the debugger has compiled for
// the expression, which is in no module.
void Capture::watch_expression(Address code) {
  if (!expression_code_.insert(code).second) return;
  const Program& program = invocations_.program;
  if (program.module_at(code)) {
    collector_.reach(code);
    return;
  }
  const References references = invocations_.code.references_until_return(code, max_expression_code);
  for (const Transfer& transfer : references.transfers) {
    if (transfer.is_direct) {
      if (transfer.kind == Transfer::Kind::call) watch_expression(transfer.target);
      continue;
    }
    invocations_.watch(transfer.address, [this, transfer](ThreadId thread) {
      if (invocations_.open_on(thread) == nullptr) return Verdict::go_on;
      const auto destination = invocations_.code.destination(transfer, thread);
      if (destination) watch_expression(*destination);
      return Verdict::go_on;
    });
  }
}

// Is the stop one that the capture goes on from?
bool Capture::goes_on_after(const Stop& stop) {
  switch (stop.kind) {
    case Stop::Kind::requested: return true;
    case Stop::Kind::modules:
      invocations_.code.forget();
      if (const auto refreshed = invocations_.program.refresh(); !refreshed) invocations_.fail(refreshed.error());
      watch_triggers();
      if (is_prepared_) collector_.libraries_changed();
      return true;
    case Stop::Kind::signal:
      if (!is_handled_signal(target_, stop.code)) return false;
      if (!invocations_.open.empty()) collector_.signalled();
      return true;
    default: return false;
  }
}

std::string Capture::reason(const Stop& stop) const {
  return stop_reason(stop, has_timed_out_ ? settings_.timeout : std::nullopt);
}

Result<void> Capture::take_values() {
  if (!settings_.wants_values) return {};
  while (values_.size() < finished_.size()) {
    const Invocation& returned = *finished_[values_.size()];
    if (!returned.profile.incomplete.empty()) {
      values_.emplace_back();
      continue;
    }
    auto value = invocations_.debugger.return_value(returned.thread, returned.entry);
    if (!value) return tl::unexpected(value.error());
    values_.push_back(std::move(*value));
  }
  return {};
}

Collection Capture::collection(std::string end) {
  Collection result;
  result.is_complete = true;
  values_.resize(std::max(values_.size(), settings_.wants_values ? finished_.size() : 0));
  for (const auto& invocation : finished_) {
    Profile& profile = invocation->profile;
    set_origin(profile, collector_.name(), collector_.unit(), target_, invocations_.debugger);
    result.is_complete = result.is_complete && profile.incomplete.empty();
  }
  std::vector<std::size_t> order(finished_.size());
  for (std::size_t index = 0; index < order.size(); ++index) order[index] = index;
  std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    return finished_[left]->profile.invocation() < finished_[right]->profile.invocation();
  });
  for (const std::size_t index : order) {
    result.invocations.push_back(std::move(finished_[index]));
    if (index < values_.size()) result.values.push_back(std::move(values_[index]));
  }
  result.is_complete = result.is_complete && result.invocations.size() >= settings_.count;
  result.end = std::move(end);
  return result;
}

}  // namespace flamb
