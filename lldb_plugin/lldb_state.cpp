#include "lldb_state.h"

namespace flamb {

ChangedSetting::ChangedSetting(lldb::SBDebugger debugger, std::string name, const std::string& value)
    : debugger_(std::move(debugger)), name_(std::move(name)) {
  lldb::SBStringList values = lldb::SBDebugger::GetInternalVariableValue(name_.c_str(), debugger_.GetInstanceName());
  if (values.GetSize() > 0) before_ = values.GetStringAtIndex(0);
  if (before_ == value) before_.clear();
  if (before_.empty()) return;
  lldb::SBDebugger::SetInternalVariable(name_.c_str(), value.c_str(), debugger_.GetInstanceName());
}

ChangedSetting::~ChangedSetting() {
  if (before_.empty()) return;
  lldb::SBDebugger::SetInternalVariable(name_.c_str(), before_.c_str(), debugger_.GetInstanceName());
}

Selection::Selection(lldb::SBProcess process) : process_(std::move(process)) {
  lldb::SBThread thread = process_.GetSelectedThread();
  if (!thread.IsValid()) return;
  thread_ = thread.GetThreadID();
  frame_ = thread.GetSelectedFrame().GetFrameID();
}

void Selection::restore() {
  if (thread_ == 0) return;
  lldb::SBThread thread = process_.GetThreadByID(thread_);
  if (!thread.IsValid()) return;
  process_.SetSelectedThread(thread);
  thread.SetSelectedFrame(frame_);
}

}  // namespace flamb
