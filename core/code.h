#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "debugger.h"
#include "result.h"

// The target's machine code, decoded (x86-64): where control can go, and where it does go given a thread's registers.
namespace flamb {

// An instruction that does not simply run on into the next one.
struct Transfer {
  enum class Kind : std::uint8_t {
    jump,
    conditional,  // jcc, jrcxz, loop: `target` or `next`
    call,
    ret,
    none,  // ud2, hlt, int3, undecodable bytes: control does not go on
  };
  // Where an indirect jump or call reads its destination.
  struct Operand {
    bool is_memory = false;  // else the register `base` holds it
    std::optional<Register> base;
    std::optional<Register> index;
    std::uint8_t scale = 1;
    std::int64_t displacement = 0;  // rip-relative ones are made absolute
  };

  Kind kind = Kind::none;
  bool is_direct = false;             // `target` holds where it goes
  bool is_switch = false;             // an indirect jump through a table: stays in its function
  bool follows_stack_switch = false;  // the stack pointer was loaded from another register just before: longjmp
  bool counts = false;                // loop, loope, loopne: takes one off rcx
  std::uint8_t condition = 0;         // conditional: the processor's condition code, or one of the codes above 15
  std::uint16_t pops = 0;             // ret: bytes taken off the stack beyond the return address
  Address address = 0;
  Address next = 0;    // the instruction after it
  Address target = 0;  // direct ones
  Operand operand;     // indirect ones
};

// Straight-line code: entered at `start` only, left at `end`'s transfer only.
struct Block {
  Address start = 0;
  std::vector<Address> instructions;  // `end`'s included
  Transfer end;
  // What the instructions before `end` do to the stack pointer; nothing if that depends on more than their own text.
  std::optional<std::int64_t> stack_change;
  bool restores_stack = false;  // where `stack_change` is not known: it is set from the frame pointer, then known
  bool writes_return_address = false;  // `end` is a return that goes where the block itself says
};

// What a function's code refers to.
struct References {
  std::vector<Transfer> transfers;  // all but returns, and jumps that stay within
  std::vector<Address> addresses;   // code addresses it takes by `lea` or as an immediate
};

struct Interruption {
  Address pc = 0;     // the instruction that will run when the handler has returned
  Address stack = 0;  // the stack pointer there
};

class Code {
 public:
  explicit Code(Debugger& debugger) : debugger_(debugger) {}

  // The block that begins at an address. Stays valid until `forget`.
  const Block& block(Address start);

  // A linear sweep over [start, end).
  References references(Address start, Address end);

  // The same from `start` to the first return, within `limit` bytes.
  References references_until_return(Address start, std::size_t limit);

  // The first indirect jump through a register at or after an address, within `limit` bytes: how the dynamic loader's
  // lazy binding and longjmp leave.
  std::optional<Transfer> register_jump(Address from, std::size_t limit);

  // Where the thread, stopped at the transfer, will be after it.
  Result<Address> destination(const Transfer& transfer, ThreadId thread);

  // Where a thread was interrupted by a signal, if a call with that return address is one of a signal handler: then the
  // address is that of the code that makes rt_sigreturn, and the kernel's frame lies above the slot.
  std::optional<Interruption> interruption(Address slot, Address return_address);

  // Drops what was decoded: libraries came or went.
  void forget() {
    blocks_.clear();
    pages_.clear();
  }

 private:
  static constexpr std::size_t page_size = 4096;
  using Page = std::vector<std::byte>;

  const Page* page(Address address);
  References sweep(Address start, Address end, bool to_return);
  // Bytes at the address, up to an instruction's greatest length; fewer at the end of what can be read.
  std::size_t bytes(Address address, std::uint8_t* into);
  Block decode_block(Address start);
  Result<std::uint64_t> operand_value(const Transfer::Operand& operand, ThreadId thread);
  Result<bool> is_taken(const Transfer& transfer, ThreadId thread);

  Debugger& debugger_;
  std::unordered_map<Address, Block> blocks_;
  std::unordered_map<Address, Page> pages_;
};

// One word of the target's memory.
Result<std::uint64_t> read_word(Debugger& debugger, Address from);

}  // namespace flamb
