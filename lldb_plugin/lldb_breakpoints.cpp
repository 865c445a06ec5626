#include "lldb_breakpoints.h"

#include <algorithm>
#include <exception>
#include <regex>
#include <string>

namespace flamb {

namespace {

// LLDB's own breakpoints have negative numbers. They can be had by number only, and which there are is told by nothing
// but the command that lists them.
std::vector<lldb::SBBreakpoint> internal_breakpoints(lldb::SBDebugger debugger, lldb::SBTarget target) {
  lldb::SBCommandReturnObject listed;
  debugger.GetCommandInterpreter().HandleCommand("breakpoint list --internal", listed);
  const std::string text = listed.GetOutput() ? listed.GetOutput() : "";
  static const std::regex number("(?:^|\n)(-[0-9]+):");
  std::vector<lldb::SBBreakpoint> found;
  for (std::sregex_iterator match(text.begin(), text.end(), number), end; match != end; ++match) {
    found.push_back(target.FindBreakpointByID(std::stoi((*match)[1])));
  }
  return found;
}

void add_addresses(lldb::SBBreakpoint breakpoint, std::vector<Address>& addresses) {
  if (!breakpoint.IsValid() || breakpoint.IsHardware()) return;
  for (std::size_t i = 0; i < breakpoint.GetNumLocations(); ++i) {
    lldb::SBBreakpointLocation location = breakpoint.GetLocationAtIndex(static_cast<std::uint32_t>(i));
    const Address where = location.GetLoadAddress();
    if (location.IsEnabled() && where != LLDB_INVALID_ADDRESS) addresses.push_back(where);
  }
}

}  // namespace

Breakpoints::~Breakpoints() {
  for (auto& [where, site] : sites_) target_.BreakpointDelete(site->breakpoint.GetID());
}

Result<BreakpointId> Breakpoints::add(Address where, BreakpointHandler handler) {
  auto& site = sites_[where];
  if (!site) {
    lldb::SBBreakpoint breakpoint = target_.BreakpointCreateByAddress(where);
    // A breakpoint that LLDB could not write into the program's code has a location all the same, but no hit ever.
    if (!breakpoint.IsValid() || breakpoint.GetNumResolvedLocations() == 0) {
      if (breakpoint.IsValid()) target_.BreakpointDelete(breakpoint.GetID());
      sites_.erase(where);
      return fail(Fault::target, fmt::format("LLDB cannot set a breakpoint at {:#x}", where));
    }
    site = std::make_unique<Site>(Site{this, where, breakpoint, {}, {}});
    sites_by_lldb_id_[breakpoint.GetID()] = site.get();
    breakpoint.SetCallback(on_hit, site.get());
  }
  const BreakpointId id = next_id_++;
  site->watches.push_back(std::make_shared<Watch>(Watch{id, std::move(handler)}));
  addresses_[id] = where;
  return id;
}

void Breakpoints::remove(BreakpointId id) {
  const auto known = addresses_.find(id);
  if (known == addresses_.end()) return;
  const auto found = sites_.find(known->second);
  addresses_.erase(known);
  Site& site = *found->second;
  std::erase_if(site.watches, [id](const auto& watch) { return watch->id == id; });
  if (!site.watches.empty()) return;
  sites_by_lldb_id_.erase(site.breakpoint.GetID());
  target_.BreakpointDelete(site.breakpoint.GetID());
  sites_.erase(found);
}

bool Breakpoints::on_hit(void* site, lldb::SBProcess& process, lldb::SBThread& thread, lldb::SBBreakpointLocation&) {
  auto& hit = *static_cast<Site*>(site);
  return hit.owner->run_handlers(hit, process, thread);
}

void Breakpoints::dispatch(lldb::SBProcess& process, lldb::SBThread& thread, lldb::break_id_t id) {
  // Else LLDB has called back, and a thread that did not run since still shows its last hit.
  if (!in_expression_) return;
  const auto last = last_stops_.find(thread.GetThreadID());
  if (last != last_stops_.end() && last->second == process.GetStopID(true)) return;
  const auto site = sites_by_lldb_id_.find(id);
  if (site != sites_by_lldb_id_.end()) run_handlers(*site->second, process, thread);
}

bool Breakpoints::has_run_in_stop(lldb::SBProcess& process) const {
  const std::uint32_t stop = process.GetStopID(true);
  return std::ranges::any_of(last_stops_, [stop](const auto& last) { return last.second == stop; });
}

bool Breakpoints::run_handlers(Site& site, lldb::SBProcess& process, lldb::SBThread& thread) {
  current_thread_ = thread.GetThreadID();
  current_frame_ = thread.GetFrameAtIndex(0);
  last_stops_[current_thread_] = process.GetStopID(true);
  jump_.reset();
  bool stop = false;
  const bool is_new = !is_told_again(site, current_thread_, current_frame_.GetSP());
  // A handler may add a watch at this very address: hence the index.
  for (std::size_t i = 0; is_new && i < site.watches.size(); ++i) {
    const std::shared_ptr<Watch> watch = site.watches[i];
    if (ask(*watch, current_thread_)) stop = true;
  }
  if (stop && !requested_) requested_ = current_thread_;
  stop = stop || interrupted_();
  if (jump_ && !stop && !users().contains(site.where)) current_frame_.SetPC(*jump_);
  current_thread_ = 0;
  current_frame_ = {};
  return stop;
}

bool Breakpoints::is_told_again(Site& site, ThreadId thread, Address stack) {
  Hit& last = site.hits[thread];
  const bool again = last.comes_again && last.stack == stack;
  last = {stack, false};
  return again;
}

void Breakpoints::comes_back(ThreadId thread, Address where, Address stack) {
  const auto site = sites_.find(where);
  if (site == sites_.end()) return;
  const auto last = site->second->hits.find(thread);
  if (last != site->second->hits.end() && last->second.stack == stack) last->second.comes_again = true;
}

bool Breakpoints::jump(ThreadId thread, Address to) {
  if (thread == 0 || thread != current_thread_ || sites_.contains(to) || users().contains(to)) return false;
  jump_ = to;
  return true;
}

const std::unordered_set<Address>& Breakpoints::users() {
  if (users_) return *users_;
  users_.emplace();
  for (std::uint32_t i = 0; i < target_.GetNumBreakpoints(); ++i) {
    lldb::SBBreakpoint breakpoint = target_.GetBreakpointAtIndex(i);
    if (owns(breakpoint.GetID())) continue;
    for (std::size_t location = 0; location < breakpoint.GetNumLocations(); ++location) {
      users_->insert(breakpoint.GetLocationAtIndex(static_cast<std::uint32_t>(location)).GetLoadAddress());
    }
  }
  return *users_;
}

std::vector<Address> Breakpoints::all_addresses(lldb::SBDebugger debugger) {
  std::vector<Address> addresses;
  for (std::uint32_t i = 0; i < target_.GetNumBreakpoints(); ++i) {
    add_addresses(target_.GetBreakpointAtIndex(i), addresses);
  }
  for (const lldb::SBBreakpoint& own : internal_breakpoints(debugger, target_)) add_addresses(own, addresses);
  return addresses;
}

bool Breakpoints::ask(Watch& watch, ThreadId thread) {
  try {
    return watch.handler(thread) == Verdict::stop;
  } catch (const std::exception& error) {
    failure_ = error.what();
  } catch (...) {
    failure_ = "an exception of an unknown type";
  }
  return true;
}

void Breakpoints::forget_requests() {
  requested_.reset();
  users_.reset();
  failure_.clear();
}

lldb::SBFrame* Breakpoints::current_frame(ThreadId thread) {
  return thread != 0 && thread == current_thread_ ? &current_frame_ : nullptr;
}

}  // namespace flamb
