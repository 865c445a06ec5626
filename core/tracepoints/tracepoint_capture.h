#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture.h"
#include "tracepoints/tracepoints.h"

namespace flamb {

// A capture, or an apply, by tracepoints: the target is stopped at the trigger's first invocation, and again when the
// last one is over.
class TracepointCapture {
 public:
  // `unit` is nanoseconds or calls.
  TracepointCapture(Invocations& invocations, Capture::Settings settings, Unit unit);
  ~TracepointCapture();
  TracepointCapture(const TracepointCapture&) = delete;
  TracepointCapture& operator=(const TracepointCapture&) = delete;

  // As Capture's.
  Result<Collection> wait();
  Result<Collection> call();

 private:
  Result<void> take_target();
  void watch_triggers();
  void forget_breakpoints();
  Result<Stop> wait_for_trigger();
  Result<void> plant(ThreadId apply_thread);
  Result<Stop> record();
  void watch_end();
  void save();
  Result<Collection> collect(const Stop& end, bool is_over);
  Result<std::vector<std::unique_ptr<Invocation>>> read(const std::string& reason);
  bool goes_on_after(const Stop& stop);
  void tell_of_refused();
  void describe(Invocation& invocation) const;

  Invocations& invocations_;
  Capture::Settings settings_;
  Unit unit_;
  TargetInfo target_;
  std::map<Address, const Function*> triggers_;  // by entry
  std::vector<BreakpointId> breakpoints_;
  bool is_reached_ = false;  // the trigger
  bool is_done_ = false;     // all invocations are over
  bool has_timed_out_ = false;
  std::optional<Tracepoints> tracepoints_;
  std::optional<std::vector<std::unique_ptr<Invocation>>> saved_;  // before the process may have ended
};

}  // namespace flamb
