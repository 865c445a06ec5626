// The agent: what a capture with tracepoints loads into the target. It runs at any point of any program, so it uses
// nothing of the C library, takes no lock, allocates memory of its own by mmap, and leaves vector registers alone.
#include <asm/unistd.h>

#include "layout.h"

// Loops stay loops: there is no memset to call.
#pragma GCC optimize("no-tree-loop-distribute-patterns")

// Addresses of the program's memory are numbers here until they are used.
// NOLINTBEGIN(performance-no-int-to-ptr)

#define HIDDEN __attribute__((visibility("hidden")))

using namespace flamb::agent;

extern "C" {
HIDDEN extern const char flamb_hook_start[];
HIDDEN extern const char flamb_hook_end[];
HIDDEN extern const char flamb_probe_continuation[];
HIDDEN extern const char flamb_probe_loop_continuation[];
HIDDEN void flamb_enter();
HIDDEN void flamb_return_point();
HIDDEN void flamb_done();
HIDDEN void flamb_probe_loop(uint64_t calls);

HIDDEN Agent flamb_agent;
__attribute__((visibility("default"))) extern Agent* const flamb_agent_address;
Agent* const flamb_agent_address = &flamb_agent;
HIDDEN __attribute__((tls_model("initial-exec"))) __thread Hot flamb_hot;

HIDDEN Record* flamb_enter_slowly(uint32_t function, uint64_t* slot);
HIDDEN uint64_t flamb_exit_slowly(Record* record, uint64_t now);
}

namespace {

static_assert(offsetof(Agent, triggers) == 56 && offsetof(Agent, continuations) == 48, "hook.S has the same numbers");
static_assert(offsetof(Node, last) == 16 && offsetof(Node, continuation) == 24 && offsetof(Node, function) == 32 &&
              offsetof(Node, follower) == 40);
static_assert(sizeof(Record) == 32 && offsetof(Record, previous) == 24);

uint64_t continuations[max_functions];
uint8_t count_only[max_functions];
uint64_t scopes[max_scopes][2];

// What `last` is where there is no child yet.
Node nothing = {0, 0, &nothing, 0, no_function, 0, &nothing, nullptr, nullptr, nullptr, 0, 0, 0};

__thread Thread* own_thread __attribute__((tls_model("initial-exec")));

// System calls

long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

constexpr long protection = 3;               // PROT_READ | PROT_WRITE
constexpr long private_anonymous = 0x4022;   // MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
constexpr long fixed_no_replace = 0x100000;  // MAP_FIXED_NOREPLACE
constexpr long already_exists = -17;         // -EEXIST

void* allocate(uint64_t bytes) {
  const long address = system_call(__NR_mmap, 0, static_cast<long>(bytes), protection, private_anonymous, -1, 0);
  return address < 0 && address > -4096 ? nullptr : reinterpret_cast<void*>(address);
}

void release(void* memory, uint64_t bytes) {
  system_call(__NR_munmap, reinterpret_cast<long>(memory), static_cast<long>(bytes));
}

uint64_t ticks() {
  uint32_t low = 0;
  uint32_t high = 0;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return uint64_t{high} << 32 | low;
}

template <class T>
void push(T*& list, T* item) {
  item->next = __atomic_load_n(&list, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&list, &item->next, item, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

// Records

constexpr uint64_t piece = 256 * 1024;  // of a stack, whose records are mapped at once

// Sees to it that the records of the slots around this one are mapped.
bool map_records(uint64_t slot) {
  Hot& hot = flamb_hot;
  const uint64_t from = slot & ~(piece - 1);
  const long mapped = system_call(__NR_mmap, static_cast<long>(record_address(from)), 4 * piece, protection,
                                  private_anonymous | fixed_no_replace, -1, 0);
  // What is there is ours, from an earlier visit.
  if (mapped != static_cast<long>(record_address(from)) && mapped != already_exists) return false;
  if (hot.low == from + piece) {
    hot.low = from;
    hot.size += piece;
  } else if (hot.low + hot.size == from && hot.size != 0) {
    hot.size += piece;
  } else {
    hot.size = 0;
    hot.low = from;
    hot.size = piece;
  }
  return true;
}

bool is_mapped(uint64_t slot) { return slot - flamb_hot.low < flamb_hot.size; }

// The slot of a record on the stack that is in use; 0 for one on another stack, or of an invocation.
uint64_t slot_of(const Record* record) {
  const uint64_t offset = (reinterpret_cast<uint64_t>(record) - mirror) / 4;
  const uint64_t slot = (flamb_hot.low & ~(mirrored - 1)) + offset;
  return offset < mirrored && is_mapped(slot) ? slot : 0;
}

// Nodes

Node* new_node(Thread& thread) {
  if (__atomic_load_n(&flamb_agent.nodes, __ATOMIC_RELAXED) >= flamb_agent.max_nodes) return nullptr;
  if (thread.chunks == nullptr || thread.chunks->used == chunk_nodes) {
    auto* chunk = static_cast<Chunk*>(allocate(chunk_bytes));
    if (chunk == nullptr) return nullptr;
    chunk->next = thread.chunks;
    thread.chunks = chunk;
  }
  __atomic_fetch_add(&flamb_agent.nodes, 1, __ATOMIC_RELAXED);
  return &thread.chunks->nodes[thread.chunks->used++];
}

uint64_t hash(const Node* parent, uint32_t function) {
  const uint64_t mixed = (reinterpret_cast<uint64_t>(parent) >> 3 ^ uint64_t{function} << 32) * 0x9e3779b97f4a7c15;
  return mixed ^ mixed >> 29;
}

void put_in_table(Thread& thread, Node* node) {
  uint64_t at = hash(node->parent, node->function);
  while (thread.table[at & (thread.table_size - 1)] != nullptr) ++at;
  thread.table[at & (thread.table_size - 1)] = node;
  ++thread.table_used;
}

bool grow_table(Thread& thread, uint64_t more) {
  if ((thread.table_used + more) * 2 <= thread.table_size) return true;
  const uint64_t old_size = thread.table_size;
  Node** const old = thread.table;
  uint64_t size = old_size == 0 ? 4096 : old_size * 2;
  while ((thread.table_used + more) * 2 > size) size *= 2;
  auto** const table = static_cast<Node**>(allocate(size * sizeof(Node*)));
  if (table == nullptr) return false;
  thread.table = table;
  thread.table_size = size;
  thread.table_used = 0;
  for (uint64_t at = 0; at < old_size; ++at) {
    if (old[at] != nullptr) put_in_table(thread, old[at]);
  }
  if (old != nullptr) release(static_cast<void*>(old), old_size * sizeof(Node*));
  return true;
}

constexpr uint32_t wide = 8;  // children; more are found by the table

// Its children move to the table.
void widen(Thread& thread, Node& parent) {
  if (!grow_table(thread, parent.children + 1)) return;
  for (Node* child = parent.first_child; child != nullptr; child = child->next_sibling) put_in_table(thread, child);
  parent.is_hashed = 1;
}

Node* find_child(const Thread& thread, const Node& parent, uint32_t function) {
  if (parent.is_hashed == 0) {
    Node* child = parent.first_child;
    while (child != nullptr && child->function != function) child = child->next_sibling;
    return child;
  }
  uint64_t at = hash(&parent, function);
  for (;; ++at) {
    Node* child = thread.table[at & (thread.table_size - 1)];
    if (child == nullptr || (child->parent == &parent && child->function == function)) return child;
  }
}

Node* add_child(Thread& thread, Node& parent, uint32_t function) {
  if (parent.is_hashed != 0 && !grow_table(thread, 1)) return nullptr;
  Node* const node = new_node(thread);
  if (node == nullptr) return nullptr;
  node->last = &nothing;
  node->follower = &nothing;
  node->continuation = continuations[function];
  node->function = function;
  node->depth = parent.depth + 1;
  node->parent = &parent;
  node->next_sibling = parent.first_child;
  parent.first_child = node;
  ++parent.children;
  if (parent.is_hashed != 0) {
    put_in_table(thread, node);
  } else if (parent.children > wide) {
    widen(thread, parent);
  }
  return node;
}

// Invocations

Room* new_room(Thread& thread) {
  if (thread.rooms == nullptr || thread.rooms->used == block_rooms) {
    auto* block = static_cast<Rooms*>(allocate(chunk_bytes));
    if (block == nullptr) return nullptr;
    block->next = thread.rooms;
    thread.rooms = block;
  }
  return &thread.rooms->rooms[thread.rooms->used++];
}

Thread* this_thread() {
  if (own_thread != nullptr) return own_thread;
  auto* thread = static_cast<Thread*>(allocate(sizeof(Thread)));
  if (thread == nullptr) return nullptr;
  thread->hot = &flamb_hot;
  thread->elsewhere.last = &nothing;
  thread->elsewhere.follower = &nothing;
  thread->elsewhere.function = no_function;
  thread->id = static_cast<uint64_t>(system_call(__NR_gettid));
  own_thread = thread;
  push(flamb_agent.threads, thread);
  return thread;
}

bool begin_invocation(Thread& thread) {
  const uint64_t wanted = flamb_agent.apply_thread;
  if (wanted != 0 && wanted != thread.id) return false;
  if (__atomic_fetch_sub(&flamb_agent.remaining, 1, __ATOMIC_RELAXED) <= 0) return false;
  Room* const room = new_room(thread);
  if (room == nullptr) return false;
  Invocation& invocation = room->invocation;
  room->root.last = &nothing;
  room->root.function = no_function;
  invocation.root.node = &room->root;
  invocation.number = __atomic_add_fetch(&flamb_agent.begun, 1, __ATOMIC_RELAXED);
  invocation.next = thread.invocations;
  invocation.began = ticks();
  thread.invocations = &invocation;
  flamb_hot.current = &invocation.root;
  return true;
}

void end_invocation(Thread& thread, End end) {
  Invocation& invocation = *thread.invocations;
  invocation.end = end;
  flamb_hot.current = nullptr;
  const uint64_t over = __atomic_add_fetch(&flamb_agent.over, 1, __ATOMIC_ACQ_REL);
  if (over != flamb_agent.wanted || static_cast<uint64_t>(system_call(__NR_getpid)) != flamb_agent.process) return;
  flamb_done();
}

// Calls

void close(Hot& hot, uint64_t now) {
  const Record& record = *hot.current;
  record.node->ticks += now - record.entered;
  hot.current = record.previous;
}

bool is_in_scope(uint64_t address) {
  for (uint64_t index = 0; index < flamb_agent.scope_count; ++index) {
    if (address >= scopes[index][0] && address < scopes[index][1]) return true;
  }
  return false;
}

// A function out of scope is a frame only where code in scope calls it.
bool is_inside_border(uint32_t function, uint64_t return_address) {
  return function >= flamb_agent.borders && return_address != reinterpret_cast<uint64_t>(&flamb_return_point) &&
         !is_in_scope(return_address);
}

bool is_counted_only(uint32_t function) { return count_only[function] != 0; }

// Closes the innermost call. Is the invocation over?
bool leave(Thread& thread, uint64_t now) {
  Hot& hot = flamb_hot;
  Invocation& invocation = *thread.invocations;
  close(hot, now);
  if (hot.current == &invocation.trigger) close(hot, now);
  return hot.current == &invocation.root && flamb_agent.apply_thread == 0;
}

// The innermost call has tail-called the one that is entered, which gets its slot. The trigger stays, as its parent.
void make_room(Thread& thread, uint64_t now) {
  Hot& hot = flamb_hot;
  Invocation& invocation = *thread.invocations;
  if (hot.current->previous == &invocation.root && flamb_agent.apply_thread == 0) {
    invocation.trigger = *hot.current;
    hot.current = &invocation.trigger;
  } else {
    close(hot, now);
  }
}

uint32_t innermost_function() { return flamb_hot.current->node->function; }

enum class Place {
  below,      // the innermost call's
  tail_call,  // its slot holds our return address
  loop,       // the same, and it is the same function: a jump to its own start
  outside,    // of the invocation, which is over
};

// Closes the calls that are over, since a call with this slot is made: what an exception or longjmp has left.
Place settle(Thread& thread, uint64_t slot, uint32_t function) {
  const bool is_hooked = *reinterpret_cast<uint64_t*>(slot) == reinterpret_cast<uint64_t>(&flamb_return_point);
  const uint64_t now = ticks();
  for (;;) {
    const Record* innermost = flamb_hot.current;
    const uint64_t open = slot_of(innermost);
    if (open == 0 || open > slot) return Place::below;
    if (open == slot && is_hooked) {
      if (innermost->node->function == function) return Place::loop;
      make_room(thread, now);
      return Place::tail_call;
    }
    if (leave(thread, now)) return Place::outside;
  }
}

// The node of a call from the innermost one; null if there is no more room for it.
Node* node_of_call(Thread& thread, uint32_t function) {
  Node& parent = *flamb_hot.current->node;
  if (parent.depth >= flamb_agent.max_depth) return nullptr;
  Node* node = find_child(thread, parent, function);
  if (node == nullptr) node = add_child(thread, parent, function);
  // The hook finds `last` without asking any more.
  if (node != nullptr && function < flamb_agent.borders && !is_counted_only(function)) {
    if (parent.last != &nothing) parent.last->follower = node;
    parent.last = node;
  }
  return node;
}

// The record of a call that is now open; null if it is not to be hooked.
Record* enter(Thread& thread, uint32_t function, uint64_t slot) {
  Hot& hot = flamb_hot;
  const uint64_t return_address = *reinterpret_cast<uint64_t*>(slot);
  if (is_inside_border(function, return_address)) return nullptr;
  if (!is_mapped(slot) && !map_records(slot)) return nullptr;
  const uint32_t innermost = innermost_function();
  const Place place = settle(thread, slot, function);
  if (place == Place::loop) return nullptr;
  if (place == Place::outside) {
    thread.invocations->left_from = innermost;
    end_invocation(thread, End::left);
    if (function >= flamb_agent.triggers || !begin_invocation(thread)) return nullptr;
  }
  Node* node = node_of_call(thread, function);
  if (node == nullptr) {
    ++hot.current->node->cut;
    if (place != Place::tail_call) return nullptr;
    node = &thread.elsewhere;
    node->continuation = continuations[function];
  }
  ++node->calls;
  if (is_counted_only(function) && place != Place::tail_call) return nullptr;
  auto* record = reinterpret_cast<Record*>(record_address(slot));
  if (place != Place::tail_call) record->return_address = return_address;
  record->entered = ticks();
  record->node = node;
  record->previous = hot.current;
  hot.current = record;
  return record;
}

}  // namespace

extern "C" {

// flamb_enter's record of a call, where that is not the obvious one. Null: the call is not hooked.
Record* flamb_enter_slowly(uint32_t function, uint64_t* slot) {
  Thread* thread = this_thread();
  if (thread == nullptr) return nullptr;
  if (thread->is_busy != 0) return nullptr;
  thread->is_busy = 1;
  Record* record = nullptr;
  const auto at = reinterpret_cast<uint64_t>(slot);
  if (flamb_hot.current != nullptr || begin_invocation(*thread)) record = enter(*thread, function, at);
  thread->is_busy = 0;
  return record;
}

// The genuine return address of a hooked call that is over, where it is not the innermost one or ends an invocation.
uint64_t flamb_exit_slowly(Record* record, uint64_t now) {
  Hot& hot = flamb_hot;
  const uint64_t return_address = record->return_address;
  const Record* open = hot.current;
  while (open != nullptr && open != record) open = open->previous;
  if (open == nullptr) return return_address;  // it was taken for one that had been left
  while (hot.current != record) close(hot, now);
  Thread& thread = *own_thread;
  if (leave(thread, now)) end_invocation(thread, End::returned);
  return return_address;
}

}  // extern "C"

namespace {

// Drops all invocations: the memory is given back, but for what threads hold on to.
void forget() {
  Agent& agent = flamb_agent;
  for (Thread* thread = agent.threads; thread != nullptr; thread = thread->next) {
    while (Chunk* chunk = thread->chunks) {
      thread->chunks = chunk->next;
      release(chunk, chunk_bytes);
    }
    while (Rooms* rooms = thread->rooms) {
      thread->rooms = rooms->next;
      release(rooms, chunk_bytes);
    }
    if (thread->table != nullptr) release(static_cast<void*>(thread->table), thread->table_size * sizeof(Node*));
    thread->table = nullptr;
    thread->table_size = 0;
    thread->table_used = 0;
    thread->invocations = nullptr;
    thread->is_busy = 0;
  }
  agent.triggers = 0;
  agent.remaining = 0;
  agent.nodes = 0;
  agent.begun = 0;
  agent.over = 0;
}

constexpr uint64_t probes = 20'000;

// Measures what the hooks cost, by hooked calls of a function that does nothing.
void measure_cost() {
  continuations[0] = reinterpret_cast<uint64_t>(flamb_probe_loop_continuation);
  continuations[1] = reinterpret_cast<uint64_t>(flamb_probe_continuation);
  Agent& agent = flamb_agent;
  agent.triggers = 1;
  agent.borders = 2;
  agent.max_depth = 2;
  agent.max_nodes = 2;
  agent.process = 0;
  for (int round = 0; round < 3; ++round) {  // the last one counts: the first ones warm up
    agent.nodes = 0;
    agent.wanted = 1;
    agent.remaining = 1;
    agent.over = 0;
    flamb_probe_loop(probes);
    const Thread& thread = *own_thread;
    const Node& loop = *thread.invocations->root.node->first_child;
    const uint64_t inside = loop.first_child->ticks / probes;
    const uint64_t all = loop.ticks / probes;
    agent.cost_inside = inside;
    agent.cost_outside = all > inside ? all - inside : 0;
  }
}

__attribute__((constructor)) void prepare() {
  Agent& agent = flamb_agent;
  agent.version = layout_version;
  agent.size = sizeof(Agent);
  agent.enter = reinterpret_cast<uint64_t>(&flamb_enter);
  agent.return_point = reinterpret_cast<uint64_t>(&flamb_return_point);
  agent.done = reinterpret_cast<uint64_t>(&flamb_done);
  agent.code_start = reinterpret_cast<uint64_t>(flamb_hook_start);
  agent.code_end = reinterpret_cast<uint64_t>(flamb_hook_end);
  agent.continuations = reinterpret_cast<uint64_t>(continuations);
  agent.count_only = reinterpret_cast<uint64_t>(count_only);
  agent.scopes = reinterpret_cast<uint64_t>(scopes);
  measure_cost();
  forget();
}

}  // namespace

// For a second capture in the same process.
extern "C" __attribute__((visibility("default"))) void flamb_agent_forget() { forget(); }

// NOLINTEND(performance-no-int-to-ptr)
