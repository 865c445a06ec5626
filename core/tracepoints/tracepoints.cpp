#include "tracepoints/tracepoints.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "deadline.h"
#include "proc.h"
#include "program/elf_image.h"
#include "tracepoints/own_libraries.h"

namespace flamb {
namespace {

constexpr double longest_call = 10;  // seconds: dlopen waits for locks that another thread may hold for good
constexpr int most_steps = 20'000;   // out of the hooks
constexpr std::size_t most_callers = 10'000;
constexpr Address widest_group = Address{1} << 30;
constexpr std::array<Address, 16> stack_regions = [] {
  std::array<Address, 16> regions{};
  for (std::size_t index = 0; index < regions.size(); ++index) regions[index] = (15 - index) * agent::mirrored;
  return regions;
}();

// Beside the library that this code is in.
std::string agent_path() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&agent_path), &info) == 0) return {};
  std::error_code error;
  const auto library = std::filesystem::canonical(info.dli_fname, error);
  return error ? "" : (library.parent_path() / agent_name).string();
}

}  // namespace

Tracepoints::~Tracepoints() {
  if (is_planted_) static_cast<void>(lift());
  std::error_code gone;
  for (const Stubs& stubs : stubs_) std::filesystem::remove(stubs.path, gone);
  if (!directory_.empty()) std::filesystem::remove(directory_, gone);
}

Result<void> Tracepoints::plant(const std::vector<Address>& triggers, const Settings& settings) {
  auto memory = TargetMemory::open(pid_);
  if (!memory) return tl::unexpected(memory.error());
  memory_.emplace(std::move(*memory));
  clock_.emplace();
  if (auto loaded = load_agent(); !loaded) return loaded;
  functions_ = choose_functions(invocations_, triggers, *memory_);
  if (auto loaded = load_stubs(); !loaded) return loaded;
  if (auto configured = configure(settings); !configured) return configured;
  return patch();
}

// Has the target evaluate an expression that calls the dynamic loader, which may wait for a lock that another thread
// holds for good.
Result<void> Tracepoints::evaluate(const std::string& expression, std::string_view what) {
  Debugger& debugger = invocations_.debugger;
  const Deadline deadline(longest_call, [&] { debugger.interrupt(); });
  const auto outcome = debugger.call(
      expression, [](ThreadId, Address) {}, Debugger::OtherThreads::stay);
  if (!outcome) return tl::unexpected(outcome.error());
  if (outcome->finished) return {};
  const std::string why =
      deadline.has_expired() ? fmt::format("it took more than {} s", longest_call) : outcome->stop.description;
  return fail(Fault::target, fmt::format("the program could not {}: {}", what, why));
}

// Makes the target load a library; the handle is put at `handle`, if that is not 0.
Result<void> Tracepoints::load(const std::string& path, Address handle) {
  const Function* dlopen = invocations_.program.exported("dlopen");
  if (dlopen == nullptr) return fail(Fault::target, "the program has no dlopen to load the agent with");
  constexpr int now = 2;  // RTLD_NOW
  const std::string opened = fmt::format("((void *(*)(const char *, int)){:#x})(\"{}\", {})", dlopen->start, path, now);
  const std::string kept = handle != 0 ? fmt::format("*(void **){:#x} = {}", handle, opened) : opened;
  if (auto loaded = evaluate(fmt::format("(void)({})", kept), fmt::format("load {}", path)); !loaded) return loaded;
  return invocations_.program.refresh();
}

// The code is back, and no thread is in the stubs: they can go.
void Tracepoints::unload_stubs() {
  const Function* dlclose = invocations_.program.exported("dlclose");
  for (const Stubs& stubs : stubs_) {
    if (dlclose == nullptr || stubs.handle == 0) continue;
    const auto closed = evaluate(
        fmt::format("(void)((int (*)(void *)){:#x})((void *){:#x})", dlclose->start, stubs.handle), "unload the stubs");
    if (!closed) return;
  }
}

Result<void> Tracepoints::load_agent() {
  const std::string path = agent_path();
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return fail(Fault::flamb, fmt::format("there is no {}", path));
  if (const Function* forget = invocations_.program.exported("flamb_agent_forget")) {
    // The agent is there from an earlier capture: what that has left is dropped.
    if (auto forgotten = evaluate(fmt::format("((void (*)()){:#x})()", forget->start), "prepare the agent");
        !forgotten) {
      return forgotten;
    }
    return find_agent();
  }
  if (auto loaded = load(path, 0); !loaded) return loaded;
  return find_agent();
}

Result<void> Tracepoints::find_agent() {
  const Function* forget = invocations_.program.exported("flamb_agent_forget");
  if (forget == nullptr) return fail(Fault::target, "the program did not load the agent");
  const auto image = ElfImage::open(invocations_.program.modules()[forget->module].path);
  if (!image) return tl::unexpected(image.error());
  const Address bias = invocations_.program.modules()[forget->module].load_bias;
  const ElfImage::Section* symbols = (*image)->section(".dynsym");
  const ElfImage::Section* text = (*image)->section(".text");
  if (symbols == nullptr || text == nullptr) return fail(Fault::flamb, "the agent's file is damaged");
  for (const auto& symbol : symbols->entries<Elf64_Sym>()) {
    const char* name = elf_strptr((*image)->elf(), symbols->header.sh_link, symbol.st_name);
    if (name == nullptr || std::string_view(name) != "flamb_agent_address") continue;
    const auto address = memory_->read<Address>(bias + symbol.st_value);
    const auto found = address ? memory_->read<agent::Agent>(*address) : std::nullopt;
    if (!found || found->version != agent::layout_version || found->size != sizeof(agent::Agent)) {
      return fail(Fault::flamb, "the agent in the program is of another version of flamb");
    }
    agent_address_ = *address;
    agent_ = *found;
    agent_code_ = {std::min(bias + text->header.sh_addr, agent_.code_start),
                   std::max(bias + text->end(), agent_.code_end)};
    return {};
  }
  return fail(Fault::flamb, "the agent has no flamb_agent_address");
}

// Nobody else may write what the target is going to run.
Result<void> Tracepoints::make_directory() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "flamb-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr) {
    return fail(Fault::user, fmt::format("no directory can be made for the stubs: {}", name),
                "set TMPDIR to one where there is room");
  }
  directory_ = std::move(name);
  return {};
}

// A library of stubs for each group of modules that lie within reach of each other.
Result<void> Tracepoints::load_stubs() {
  if (auto made = make_directory(); !made) return made;
  std::vector<StubLibrary::Function> all;
  for (std::size_t id = 0; id < functions_.list.size(); ++id) {
    const TracedFunction& function = functions_.list[id];
    const auto code = invocations_.program.file_bytes(function.entry, function.limit - function.entry);
    all.push_back(
        {static_cast<std::uint32_t>(id), {function.entry, std::min(function.size, code.size()), code}, function.name});
  }
  const auto entry = [](const StubLibrary::Function& each) { return each.code.entry; };
  std::ranges::sort(all, {}, entry);
  for (auto first = all.begin(); first != all.end();) {
    const auto last =
        std::find_if(first, all.end(), [&](const auto& each) { return entry(each) - entry(*first) > widest_group; });
    const std::span<const StubLibrary::Function> group(first, last);
    const AddressRange near{entry(group.front()), entry(group.back())};
    const std::size_t size = StubLibrary::max_size(group.size());
    const auto base = find_free_range(pid_, near, size);
    if (!base)
      return fail(Fault::target, fmt::format("there is no room near {:#x} for {} bytes of stubs", near.start, size));
    auto library = std::make_unique<StubLibrary>(group, *base, agent_.enter);
    const std::string path = fmt::format("{}/{}{:x}.so", directory_, stubs_prefix, *base);
    if (auto written = library->write(path); !written) return written;
    const Address handle = agent_address_ + offsetof(agent::Agent, handle);
    auto loaded = load(path, handle);
    stubs_.push_back({std::move(library), path, {*base, *base + size}, memory_->read<Address>(handle).value_or(0)});
    if (!loaded) return loaded;
    // The first bytes of the file, where they are to be: no debugger needs to have noticed.
    if (memory_->read<std::array<char, 4>>(*base) != std::array{'\x7f', 'E', 'L', 'F'}) {
      return fail(Fault::target, fmt::format("the program did not load {} at {:#x}", path, *base));
    }
    first = last;
  }
  return {};
}

// Writes the tables and the settings.
Result<void> Tracepoints::configure(const Settings& settings) {
  const std::size_t count = functions_.list.size();
  if (count > agent::max_functions || functions_.scope.size() > agent::max_scopes) {
    return fail(Fault::user, fmt::format("{} functions are more than flamb traces at once", count),
                "choose fewer with --modules");
  }
  std::vector<std::uint64_t> continuations(count);
  for (const Stubs& stubs : stubs_) {
    for (const StubLibrary::Patch& patch : stubs.library->patches()) continuations[patch.id] = patch.continuation;
  }
  std::vector<std::uint8_t> counted_only(count);
  for (std::size_t id = 0; id < count; ++id) counted_only[id] = functions_.list[id].is_counted_only ? 1 : 0;
  agent_.triggers = settings.apply_thread != 0 ? agent::no_function : static_cast<std::uint32_t>(functions_.triggers);
  agent_.borders = static_cast<std::uint32_t>(functions_.borders);
  agent_.scope_count = functions_.scope.size();
  agent_.wanted = settings.count;
  agent_.remaining = settings.apply_thread != 0 ? 1 : static_cast<std::int64_t>(settings.count);
  agent_.apply_thread = settings.apply_thread;
  agent_.max_depth = settings.max_depth;
  agent_.max_nodes = settings.max_nodes;
  agent_.process = static_cast<std::uint64_t>(pid_);
  const bool is_written = memory_->write(agent_.continuations, std::as_bytes(std::span(continuations))) &&
                          memory_->write(agent_.count_only, std::as_bytes(std::span(counted_only))) &&
                          memory_->write(agent_.scopes, std::as_bytes(std::span(functions_.scope))) &&
                          memory_->write(agent_address_, agent_);
  if (!is_written) return fail(Fault::target, "the program's memory cannot be written");
  return {};
}

// Where code cannot be replaced: a thread is there or will return there, or a breakpoint of the debugger lies there.
Result<std::map<Address, std::string_view>> Tracepoints::occupied() {
  std::map<Address, std::string_view> places;
  Debugger& debugger = invocations_.debugger;
  const auto threads = debugger.threads();
  if (!threads) return tl::unexpected(threads.error());
  for (const ThreadId thread : *threads) {
    const auto pc = debugger.read_register(thread, Register::rip);
    if (!pc) return tl::unexpected(pc.error());
    places.emplace(*pc, "a thread is in its first instructions");
    const auto callers = debugger.callers(thread, most_callers);
    if (!callers) continue;
    for (const Address caller : *callers) places.emplace(caller, "a thread will return to its first instructions");
  }
  const auto breakpoints = debugger.breakpoint_addresses();
  if (!breakpoints) return tl::unexpected(breakpoints.error());
  for (const Address where : *breakpoints) places.emplace(where, "a breakpoint lies in its first instructions");
  return places;
}

Result<void> Tracepoints::patch() {
  const auto places = occupied();
  if (!places) return tl::unexpected(places.error());
  is_planted_ = true;
  for (const Stubs& stubs : stubs_) {
    for (const StubLibrary::Refusal& refusal : stubs.library->refusals()) refused_[refusal.id] = refusal.reason;
    for (const StubLibrary::Patch& patch : stubs.library->patches()) {
      if (const std::string_view reason = why_not(patch, *places); !reason.empty()) {
        refused_[patch.id] = reason;
      } else if (memory_->write(patch.entry, patch.replacement)) {
        patches_.push_back(patch);
      } else {
        restore_code();
        return fail(Fault::target, fmt::format("the code at {:#x} cannot be written", patch.entry));
      }
    }
  }
  tell_of_code();
  return {};
}

std::string_view Tracepoints::why_not(const StubLibrary::Patch& patch,
                                      const std::map<Address, std::string_view>& places) const {
  const auto place = places.lower_bound(patch.entry);
  // A thread at the very entry has yet to come through it; a breakpoint there would never be hit.
  for (auto at = place; at != places.end() && at->first < patch.entry + patch.replaced; ++at) {
    if (at->first != patch.entry || at->second.starts_with("a breakpoint")) return at->second;
  }
  const auto now = memory_->read<decltype(patch.original)>(patch.entry);
  return now && *now == patch.original ? "" : "its code is not that of its file";
}

void Tracepoints::restore_code() {
  for (const StubLibrary::Patch& patch : patches_) memory_->write(patch.entry, patch.original);
  tell_of_code();
  patches_.clear();
}

// The debugger may have read the code that was changed.
void Tracepoints::tell_of_code() {
  std::vector<MemoryRange> changed;
  changed.reserve(patches_.size());
  for (const StubLibrary::Patch& patch : patches_) changed.push_back({patch.entry, patch.original.size()});
  invocations_.debugger.memory_changed(changed);
}

Result<void> Tracepoints::lift() {
  if (!is_planted_) return {};
  is_planted_ = false;
  note_time();
  memory_->write(agent_address_ + offsetof(agent::Agent, remaining), std::int64_t{0});
  restore_code();
  const auto threads = invocations_.debugger.threads();
  if (!threads) return tl::unexpected(threads.error());
  // What one thread does not do must not cost what all have recorded.
  for (const ThreadId thread : *threads) static_cast<void>(leave_hooks(thread));
  changed_slots_.clear();
  const auto observed = observe_stacks(true);
  invocations_.debugger.memory_changed(changed_slots_);
  return observed;
}

Result<void> Tracepoints::observe() {
  note_time();
  return observe_stacks(false);
}

void Tracepoints::note_time() {
  stopped_at_ = TickClock::ticks();
  nanoseconds_per_tick_ = clock_->nanoseconds_per_tick();
}

std::uint64_t Tracepoints::hook_cost() const {
  const auto ticks = static_cast<double>(agent_.cost_inside + agent_.cost_outside);
  return static_cast<std::uint64_t>(std::llround(ticks * nanoseconds_per_tick_));
}

bool Tracepoints::is_ours(Address code) const {
  const auto holds = [&](const AddressRange& range) { return code >= range.start && code < range.end; };
  return holds(agent_code_) || std::ranges::any_of(stubs_, [&](const Stubs& stubs) { return holds(stubs.range); });
}

// A thread that is in a hook goes on to the function that it leads to, or back to its caller.
Result<void> Tracepoints::leave_hooks(ThreadId thread) {
  for (int steps = 0; steps < most_steps; ++steps) {
    const auto pc = invocations_.debugger.read_register(thread, Register::rip);
    if (!pc) return tl::unexpected(pc.error());
    if (!is_ours(*pc)) return {};
    const auto stop = invocations_.debugger.step(thread);
    if (!stop) return tl::unexpected(stop.error());
    const bool goes_on = stop->kind == Stop::Kind::requested || stop->kind == Stop::Kind::interrupted;
    if (!goes_on) return fail(Fault::target, fmt::format("a hook was left early: {}", stop->description));
  }
  return fail(Fault::flamb, fmt::format("thread {} does not come out of the hooks", thread));
}

std::vector<agent::Thread> Tracepoints::threads() const {
  std::vector<agent::Thread> all;
  auto next = reinterpret_cast<Address>(agent_.threads);
  while (next != 0) {
    const auto thread = memory_->read<agent::Thread>(next);
    if (!thread) break;
    all.push_back(*thread);
    next = reinterpret_cast<Address>(thread->next);
  }
  return all;
}

// The open calls of all threads. If `unhooks`, the return addresses on the stacks become the genuine ones again. A
// thread that has ended has no stack any more, and what was its own memory may be another's.
Result<void> Tracepoints::observe_stacks(bool unhooks) {
  const auto kept = memory_->read<agent::Agent>(agent_address_);
  if (!kept) return fail(Fault::target, "what the agent has recorded cannot be read");
  agent_ = *kept;
  open_.clear();
  alive_ = proc_threads(pid_);
  for (const agent::Thread& thread : threads()) {
    if (!is_alive(thread)) continue;
    const auto hot = reinterpret_cast<Address>(thread.hot);
    std::vector<agent::Record>& open = open_[hot];
    auto at = memory_->read<Address>(hot + offsetof(agent::Hot, current)).value_or(0);
    while (at != 0) {
      const auto record = memory_->read<agent::Record>(at);
      if (!record || record->previous == nullptr) break;  // the last one is the invocation's
      const bool is_mirrored = at >= agent::mirror && at < agent::mirror + 4 * agent::mirrored;
      if (unhooks && is_mirrored) unhook((at - agent::mirror) / 4, record->return_address);
      open.push_back(*record);
      at = reinterpret_cast<Address>(record->previous);
    }
    if (unhooks) memory_->write(hot + offsetof(agent::Hot, current), Address{0});
  }
  return {};
}

// `low` is the slot's address but for the bits that tell one region of stacks from another.
void Tracepoints::unhook(Address low, Address return_address) {
  for (std::size_t tried = 0; tried < stack_regions.size(); ++tried) {
    const Address slot = stack_regions[(region_ + tried) % stack_regions.size()] + low;
    if (memory_->read<Address>(slot) != agent_.return_point) continue;
    memory_->write(slot, return_address);
    changed_slots_.push_back({slot, sizeof slot});
    region_ = (region_ + tried) % stack_regions.size();
    return;
  }
}

bool Tracepoints::is_alive(const agent::Thread& thread) const {
  return std::ranges::find(alive_, static_cast<pid_t>(thread.id)) != alive_.end();
}

const std::vector<agent::Record>& Tracepoints::open_calls(const agent::Thread& thread) const {
  static const std::vector<agent::Record> none;
  const auto found = is_alive(thread) ? open_.find(reinterpret_cast<Address>(thread.hot)) : open_.end();
  return found != open_.end() ? found->second : none;
}

}  // namespace flamb
