#pragma once

#include <lldb/API/LLDB.h>

#include <string>

namespace flamb {

// A setting of LLDB that has another value for as long as this object lives.
class ChangedSetting {
 public:
  ChangedSetting(lldb::SBDebugger debugger, std::string name, const std::string& value);
  ~ChangedSetting();
  ChangedSetting(const ChangedSetting&) = delete;
  ChangedSetting& operator=(const ChangedSetting&) = delete;

 private:
  lldb::SBDebugger debugger_;
  std::string name_;
  std::string before_;
};

// Commands of LLDB wait for the target for as long as this object lives.
class SynchronousMode {
 public:
  explicit SynchronousMode(lldb::SBDebugger debugger) : debugger_(std::move(debugger)), before_(debugger_.GetAsync()) {
    debugger_.SetAsync(false);
  }
  ~SynchronousMode() { debugger_.SetAsync(before_); }
  SynchronousMode(const SynchronousMode&) = delete;
  SynchronousMode& operator=(const SynchronousMode&) = delete;

 private:
  lldb::SBDebugger debugger_;
  bool before_;
};

// The selected thread and frame, to be put back.
class Selection {
 public:
  explicit Selection(lldb::SBProcess process);
  // Selects them again, if they are still there.
  void restore();

 private:
  lldb::SBProcess process_;
  lldb::tid_t thread_ = 0;
  std::uint32_t frame_ = 0;
};

}  // namespace flamb
