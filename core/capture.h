#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "collector.h"
#include "cpu_affinity.h"
#include "debugger.h"

namespace flamb {

// What a capture or an apply has seen.
struct Collection {
  std::vector<std::unique_ptr<Invocation>> invocations;  // in order of entry, closed
  std::vector<std::string>
      values;  // one an invocation, where return values were asked for; of an apply the expression's, if it has one
  std::string end;           // why the capture ended, where that is not by itself
  bool is_complete = false;  // everything asked for was seen to its end
};

// Lets the target run, and sees invocations of the trigger begin and end.
class Capture {
 public:
  struct Settings {
    std::uint64_t count = 1;
    bool wants_values = false;
    bool callers = false;
    CallTree::Options tree;
    std::optional<double> timeout;  // seconds
    std::string trigger;            // as the user typed it
  };

  Capture(Invocations& invocations, Collector& collector, Settings settings);

  // Waits for invocations of the functions that match the trigger; none may match yet. A process is there.
  Result<Collection> wait();

  // Evaluates the trigger as an expression; all the calls it makes are one invocation.
  Result<Collection> call();

 private:
  void watch_triggers();
  Verdict at_trigger(const Function& trigger, ThreadId thread);
  Verdict begin(const Function& trigger, ThreadId thread, Address slot);
  void prepare();
  void enter_callers(Invocation& invocation);
  void watch_return(Address where);
  Verdict end(Invocation& invocation, std::string why_incomplete);
  void end_all(const std::string& why_incomplete);

  void watch_cuts();
  Verdict cut(ThreadId thread, std::string_view why, const Transfer* leaving);
  std::string why_left(ThreadId thread, std::string_view why) const;
  std::vector<Transfer> longjmp_exits();
  const Function* find_exported(std::string_view linkage_name) const;

  void watch_expression(Address code);

  bool is_over() const { return finished_.size() >= settings_.count; }
  bool goes_on_after(const Stop& stop);
  std::string reason(const Stop& stop) const;
  Result<void> take_values();
  Collection collection(std::string end);

  Invocations& invocations_;
  Collector& collector_;
  Settings settings_;
  TargetInfo target_;
  std::optional<CpuAffinity> affinity_;
  std::uint64_t begun_ = 0;
  bool is_prepared_ = false;
  bool has_timed_out_ = false;
  std::unordered_set<Address> returns_;   // return addresses with a breakpoint
  std::unordered_set<Address> landings_;  // where a longjmp out of the last invocation goes
  std::unordered_set<Address> expression_code_;
  std::unordered_set<ThreadId> exiting_;  // threads in pthread_exit
  std::vector<std::unique_ptr<Invocation>> finished_;
  std::vector<std::string> values_;  // of finished_, as far as they have been taken
};

}  // namespace flamb
