#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "code.h"
#include "program/program.h"

namespace flamb {

inline constexpr std::size_t slot_size = sizeof(Address);  // of a return address on the stack

struct Position {
  Address pc = 0;
  Address stack = 0;  // the stack pointer there
};

// A call that was seen being made.
struct MadeCall {
  Address slot = 0;            // where its return address lies
  Address return_address = 0;  // as it was at the call
  bool is_root = false;        // of the trigger itself: a path ends where it returns
};

// The calls that are open along a path: those that were open where it begins, innermost last, and the path's own.
class OpenCalls {
 public:
  explicit OpenCalls(const std::vector<MadeCall>& before) : before_(before), left_(before.size()) {}

  const MadeCall* innermost() const;
  void push(const MadeCall& call) { made_.push_back(call); }
  void pop();
  const std::vector<MadeCall>& made() const { return made_; }  // on the path

  // Brings the calls that were open at the path's begin up to date.
  void apply_to(std::vector<MadeCall>& calls) const;

 private:
  const std::vector<MadeCall>& before_;
  std::size_t left_;  // of before_
  std::vector<MadeCall> made_;
};

// Follows code over everything whose outcome is known from its text: direct jumps and calls, and the returns from calls
// that were seen being made.
class CodePath {
 public:
  struct Step {
    const Block& block;
    Address stack = 0;                    // the stack pointer at its start
    std::optional<Address> stack_at_end;  // that at its transfer, where it is known
    std::optional<Position> then;         // where the transfer goes; nothing where the path ends
  };
  // False ends the path before the step's transfer.
  using Visit = std::function<bool(const Step&)>;

  // What a path ends at.
  struct End {
    Transfer transfer;
    std::optional<Address> stack = {};  // the stack pointer there, where it is known
    bool keeps_stack = true;   // else the thread may be on another stack by then: calls made before say nothing there
    bool leaves_root = false;  // the transfer is the root's return
  };

  CodePath(Code& code, const Program& program) : code_(code), program_(program) {}

  // Nothing if `visit` said so, or if the path does not end.
  std::optional<End> follow(Position from, OpenCalls& calls, const Visit& visit);

  // Libraries came or went.
  void forget() { at_entry_depth_.clear(); }

 private:
  static bool returns(const Step& step, const OpenCalls& calls);
  static bool leaves_root(const Step& step, const OpenCalls& calls);
  static std::optional<Position> outcome(const Step& step, const OpenCalls& calls);
  std::optional<Address> stack_at_end(const Block& block, Address stack, const OpenCalls& calls);
  bool is_at_entry_depth(Address instruction);

  Code& code_;
  const Program& program_;
  std::unordered_map<Address, bool> at_entry_depth_;  // by instruction
};

}  // namespace flamb
