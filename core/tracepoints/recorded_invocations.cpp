#include "tracepoints/recorded_invocations.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace flamb {
namespace {

// The nodes and invocations of one thread, copied out of the target.
class RecordedThread {
 public:
  RecordedThread(const Tracepoints& tracepoints, const agent::Thread& thread)
      : tracepoints_(tracepoints), thread_(thread), is_alive_(tracepoints.is_alive(thread)) {}

  Result<void> read();
  std::vector<std::unique_ptr<Invocation>> invocations(const CallTree::Options& options, Unit unit,
                                                       const std::string& reason);

 private:
  struct Stack {  // a node, and what is below it
    agent::Node node;
    std::size_t parent = none;  // place in stacks_; none for the root of an invocation
    std::uint64_t children_ticks = 0;
    std::uint64_t children_calls = 0;
  };
  struct Piece {
    Address start = 0;  // of its first node
    Address end = 0;
    std::size_t first = 0;  // place of that in stacks_
  };
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  static tl::unexpected<Error> unreadable() {
    return fail(Fault::target, "what the agent has recorded cannot be read");
  }
  template <class Block>
  Result<std::vector<std::pair<Address, Block>>> blocks(const Block* newest) const;
  Result<void> read_rooms();
  Result<void> read_nodes();
  std::size_t place_of(Address node) const;
  void close_open_calls();
  void link();
  std::string why_left(std::uint32_t function) const;
  std::uint64_t weight(const Stack& stack, Unit unit) const;
  std::unique_ptr<Invocation> make(const agent::Room& room, const CallTree::Options& options,
                                   const std::string& reason) const;

  const Tracepoints& tracepoints_;
  const agent::Thread& thread_;
  const bool is_alive_;
  std::vector<agent::Room> rooms_;  // in order of entry
  std::vector<Stack> stacks_;       // the invocations' roots first; parents before children
  std::vector<Piece> pieces_;       // by address
};

// The agent's blocks of items, the oldest first, from the newest on; without their items but the first.
template <class Block>
Result<std::vector<std::pair<Address, Block>>> RecordedThread::blocks(const Block* newest) const {
  std::vector<std::pair<Address, Block>> all;
  for (auto at = reinterpret_cast<Address>(newest); at != 0;) {
    const auto block = tracepoints_.memory().read<Block>(at);
    if (!block) return unreadable();
    all.emplace_back(at, *block);
    at = reinterpret_cast<Address>(block->next);
  }
  std::ranges::reverse(all);
  return all;
}

Result<void> RecordedThread::read() {
  if (auto read = read_rooms(); !read) return read;
  if (auto read = read_nodes(); !read) return read;
  std::ranges::sort(pieces_, {}, &Piece::start);
  close_open_calls();
  link();
  return {};
}

Result<void> RecordedThread::read_rooms() {
  const auto rooms = blocks(thread_.rooms);
  if (!rooms) return tl::unexpected(rooms.error());
  for (const auto& [start, block] : *rooms) {
    const Address first = start + offsetof(agent::Rooms, rooms);
    const std::size_t before = rooms_.size();
    rooms_.resize(before + block.used);
    if (!tracepoints_.memory().read(first, std::as_writable_bytes(std::span(rooms_).subspan(before)))) {
      return unreadable();
    }
    for (std::size_t index = 0; index < block.used; ++index) {
      const Address root = first + index * sizeof(agent::Room) + offsetof(agent::Room, root);
      pieces_.push_back({root, root + sizeof(agent::Node), stacks_.size()});
      stacks_.push_back({rooms_[before + index].root});
    }
  }
  return {};
}

Result<void> RecordedThread::read_nodes() {
  const auto chunks = blocks(thread_.chunks);
  if (!chunks) return tl::unexpected(chunks.error());
  std::vector<agent::Node> nodes;
  for (const auto& [start, chunk] : *chunks) {
    const Address first = start + offsetof(agent::Chunk, nodes);
    nodes.resize(chunk.used);
    if (!tracepoints_.memory().read(first, std::as_writable_bytes(std::span(nodes)))) return unreadable();
    pieces_.push_back({first, first + nodes.size() * sizeof(agent::Node), stacks_.size()});
    for (const agent::Node& node : nodes) stacks_.push_back({node});
  }
  return {};
}

std::size_t RecordedThread::place_of(Address node) const {
  const auto after = std::ranges::upper_bound(pieces_, node, {}, &Piece::start);
  if (after == pieces_.begin()) return none;
  const Piece& piece = *std::prev(after);
  return node < piece.end ? piece.first + (node - piece.start) / sizeof(agent::Node) : none;
}

// The calls that were open have run up to the stop.
void RecordedThread::close_open_calls() {
  for (const agent::Record& record : tracepoints_.open_calls(thread_)) {
    const std::size_t place = place_of(reinterpret_cast<Address>(record.node));
    const std::uint64_t now = tracepoints_.stopped_at();
    if (place != none && now > record.entered) stacks_[place].node.ticks += now - record.entered;
  }
}

void RecordedThread::link() {
  for (Stack& stack : stacks_) {
    if (stack.node.parent == nullptr) continue;
    stack.parent = place_of(reinterpret_cast<Address>(stack.node.parent));
    if (stack.parent == none) continue;
    stacks_[stack.parent].children_ticks += stack.node.ticks;
    stacks_[stack.parent].children_calls += stack.node.calls;
  }
}

// Without what the hooks take: within a call, and within its caller.
std::uint64_t RecordedThread::weight(const Stack& stack, Unit unit) const {
  if (unit == Unit::calls) return stack.node.calls + stack.node.cut;
  const agent::Agent& agent = tracepoints_.agent();
  const std::uint64_t hooks = stack.node.calls * agent.cost_inside + stack.children_calls * agent.cost_outside;
  const std::uint64_t elsewhere = stack.children_ticks + hooks;
  if (stack.node.ticks <= elsewhere) return 0;
  const double nanoseconds = static_cast<double>(stack.node.ticks - elsewhere) * tracepoints_.nanoseconds_per_tick();
  return static_cast<std::uint64_t>(std::llround(nanoseconds));
}

std::vector<std::unique_ptr<Invocation>> RecordedThread::invocations(const CallTree::Options& options, Unit unit,
                                                                     const std::string& reason) {
  struct Placed {
    Invocation* invocation = nullptr;
    NodeId node = CallTree::root;
  };
  std::vector<std::unique_ptr<Invocation>> made;
  std::vector<Placed> placed(stacks_.size());
  for (std::size_t index = 0; index < rooms_.size(); ++index) {
    made.push_back(make(rooms_[index], options, reason));
    placed[index].invocation = made.back().get();
  }
  for (std::size_t place = rooms_.size(); place < stacks_.size(); ++place) {
    const Stack& stack = stacks_[place];
    if (stack.parent == none || stack.node.function >= tracepoints_.functions().list.size()) continue;
    Invocation* invocation = placed[stack.parent].invocation;
    if (invocation == nullptr) continue;
    CallTree& tree = invocation->profile.tree;
    const TracedFunction& function = tracepoints_.functions().list[stack.node.function];
    if (invocation->profile.trigger.empty()) invocation->profile.trigger = function.name;
    placed[place] = {invocation,
                     tree.add(placed[stack.parent].node, function.frame, stack.node.calls, weight(stack, unit))};
    if (stack.node.cut > 0) tree.note_cut();
  }
  return made;
}

// By the call that did not return.
std::string RecordedThread::why_left(std::uint32_t function) const {
  const auto& functions = tracepoints_.functions().list;
  const std::string_view name = function < functions.size() ? std::string_view(functions[function].name) : "";
  if (name.starts_with("__cxa_") || name.starts_with("_Unwind_")) return "an exception left it";
  if (name.find("longjmp") != std::string_view::npos) return "longjmp left it";
  return name == "pthread_exit" ? "its thread exited" : "it was left without a return";
}

std::unique_ptr<Invocation> RecordedThread::make(const agent::Room& room, const CallTree::Options& options,
                                                 const std::string& reason) const {
  auto invocation = std::make_unique<Invocation>(thread_.id, options);
  invocation->profile.parts.front().invocation = room.invocation.number;
  const auto ago =
      static_cast<double>(tracepoints_.stopped_at() - room.invocation.began) * tracepoints_.nanoseconds_per_tick();
  invocation->profile.date = std::chrono::system_clock::now() - std::chrono::microseconds(std::llround(ago / 1000));
  switch (room.invocation.end) {
    case agent::End::returned: break;
    case agent::End::left: invocation->profile.incomplete = why_left(room.invocation.left_from); break;
    case agent::End::open: invocation->profile.incomplete = is_alive_ ? reason : "its thread exited"; break;
  }
  return invocation;
}

}  // namespace

Result<std::vector<std::unique_ptr<Invocation>>> read_invocations(const Tracepoints& tracepoints,
                                                                  const CallTree::Options& options, Unit unit,
                                                                  const std::string& reason) {
  std::vector<std::unique_ptr<Invocation>> all;
  for (const agent::Thread& thread : tracepoints.threads()) {
    RecordedThread recorded(tracepoints, thread);
    if (auto read = recorded.read(); !read) return tl::unexpected(read.error());
    auto invocations = recorded.invocations(options, unit, reason);
    std::ranges::move(invocations, std::back_inserter(all));
  }
  std::ranges::sort(all, {}, [](const auto& each) { return each->profile.invocation(); });
  return all;
}

}  // namespace flamb
