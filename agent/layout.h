#pragma once

#include <stddef.h>
#include <stdint.h>

// What the agent keeps in the target's memory, and what the debugger's side reads and writes there while the target is
// stopped. The agent includes nothing else: it runs inside any program.
namespace flamb::agent {

inline constexpr uint32_t layout_version = 1;

// The agent's records lie at a fixed distance from the stack slots they belong to: that of the return address at A at
// `mirror + 4 * (A mod mirrored)`. The modulus brings stacks in the heap, in mappings and that of the kernel together;
// two live stacks a multiple of it apart are not known to occur. The unwind information of hook.S has the same numbers.
inline constexpr uint64_t mirror = 0x1000'0000'0000;
inline constexpr unsigned mirrored_bits = 43;
inline constexpr uint64_t mirrored = uint64_t{1} << mirrored_bits;

constexpr uint64_t record_address(uint64_t slot) { return mirror + 4 * (slot % mirrored); }

inline constexpr uint32_t no_function = UINT32_MAX;

// One distinct stack of an invocation. A parent is made before its children.
struct Node {
  uint64_t ticks;  // from entry to exit, over all calls that are over
  uint64_t calls;
  Node* last;             // the child that was entered last; never null, but may be `nothing`, which has no function
  uint64_t continuation;  // of the function: where its moved first instructions are
  uint32_t function;      // the id that its stub pushes; no_function for the root of an invocation
  uint32_t depth;         // 0 for the root
  Node* follower;         // the sibling that was entered after this one; never null either
  Node* parent;
  Node* first_child;
  Node* next_sibling;
  uint32_t children;
  uint32_t is_hashed;  // its children are in the thread's table too
  uint64_t cut;        // calls made from here that have no node: the tree was full or too deep
};

// One open call.
struct Record {
  uint64_t return_address;  // the genuine one
  uint64_t entered;         // ticks
  Node* node;
  Record* previous;  // the caller's, or that of the invocation
};

enum class End : uint32_t {
  open,      // it still runs
  returned,  // to where it was called from
  left,      // something runs in its caller's place
};

// One invocation of a trigger, or the calls of an apply.
struct Invocation {
  Record root;       // where `Record::previous` of the trigger's call leads; its node is the tree's root
  Record trigger;    // the trigger's own call while what it has tail-called has its slot
  Invocation* next;  // of the thread, the one before it
  uint64_t number;   // in order of entry, from 1
  uint64_t began;    // ticks
  End end;
  uint32_t left_from;  // left: the function of the innermost call that was open then
};

// An invocation and the root of its tree.
struct Room {
  Invocation invocation;
  Node root;
};

// A piece of a thread's memory for nodes.
struct Chunk {
  Chunk* next;    // the one before it
  uint64_t used;  // nodes
  Node nodes[1];  // chunk_nodes of them
};
inline constexpr uint64_t chunk_bytes = 1 << 20;
inline constexpr uint64_t chunk_nodes = (chunk_bytes - offsetof(Chunk, nodes)) / sizeof(Node);

// The same for invocations.
struct Rooms {
  Rooms* next;
  uint64_t used;
  Room rooms[1];  // block_rooms of them
};
inline constexpr uint64_t block_rooms = (chunk_bytes - offsetof(Rooms, rooms)) / sizeof(Room);

// What the hooks need of their thread. It lies in the thread's own static storage.
struct Hot {
  Record* current;  // the innermost open call; null outside of invocations
  uint64_t low;     // the records of slots in [low, low + size) are mapped
  uint64_t size;
};

// What else there is of a thread that has had an invocation. It stays when the thread ends.
struct Thread {
  Thread* next;
  Hot* hot;
  uint64_t id;
  Chunk* chunks;            // the newest first
  Rooms* rooms;             // the newest first
  Invocation* invocations;  // the newest first
  Node** table;             // of the children of hashed nodes
  uint64_t table_size;      // a power of two, or 0
  uint64_t table_used;
  uint64_t is_busy;  // a slow path is under way: a signal handler takes none
  Node elsewhere;    // for calls that have no node of their own, but must have one
};

inline constexpr uint64_t max_functions = 1 << 19;
inline constexpr uint64_t max_scopes = 4096;

// What the symbol `flamb_agent_address` points to.
struct Agent {
  uint32_t version;  // layout_version
  uint32_t size;     // sizeof(Agent)

  // Where things are.
  uint64_t enter;         // what stubs jump to
  uint64_t return_point;  // what hooked calls return to
  uint64_t done;          // reached when all invocations that were asked for are over
  uint64_t code_start;    // of all of the hooks' code
  uint64_t code_end;

  // Set by the debugger's side while the target is stopped. The tables are the agent's, and it says where they are.
  uint64_t continuations;  // by function id, max_functions at most: an address each
  uint32_t triggers;       // the functions below this id begin invocations; all of them during an apply
  uint32_t borders;        // the functions from this id on count only when they are called from...
  uint64_t scopes;         // ...these ranges: a start and an end each
  uint64_t scope_count;    // max_scopes at most
  uint64_t count_only;     // by function id, a byte: not zero if its return must not be hooked
  uint64_t wanted;         // invocations
  int64_t remaining;       // of them, still to begin
  uint64_t apply_thread;   // the thread whose calls are recorded; 0 for a capture
  uint64_t max_depth;      // of the tree, the trigger being at 1
  uint64_t max_nodes;      // of all threads together
  uint64_t process;        // its id: a copy of it made by fork stops for nobody

  uint64_t handle;  // what dlopen has given

  // Kept by the agent.
  uint64_t nodes;  // in use
  uint64_t begun;  // invocations
  uint64_t over;   // invocations
  Thread* threads;

  // What hooks cost, in ticks a call: measured when the agent was loaded.
  uint64_t cost_inside;   // within a call's own time
  uint64_t cost_outside;  // within its caller's
};

}  // namespace flamb::agent
