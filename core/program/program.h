#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "call_tree.h"
#include "debugger.h"
#include "result.h"

// What the target's files say of its code: functions, imports, inlined calls. Read with elfutils from the ELF files and
// their debug information (separate ones too), so that names are the same under both debuggers.
namespace flamb {

// One function of a module. Functions at one address (aliases, C1/C2 constructors) are one, named by the best of
// their symbols: global before weak before local, fewest leading underscores.
struct Function {
  std::string name;  // demangled with parameters, without return type; "module+0xoffset" where there is no symbol
  std::string linkage_name;   // as in the symbol table; empty where there is no symbol
  Address start = 0;          // load address
  Address end = 0;            // one past its last byte
  std::size_t module = 0;     // index into Program::modules()
  bool is_ifunc = false;      // `start` is that of the resolver
  bool is_cold_part = false;  // NAME.cold and the like: part of another function
};

// A call that was inlined: code of `frame` in [start, end) of the enclosing function.
struct InlinedRange {
  Address start = 0;
  Address end = 0;
  std::uint32_t depth = 0;  // 0: inlined into the function itself, 1: into what is inlined at depth 0, ...
  FrameId frame = 0;
};

// A place in a module that stands for a function of another: what `Program::imported_at` has a name for.
struct Import {
  Address address = 0;
  std::string_view name;   // linkage name
  bool is_entry = false;   // of a PLT: code, which can be called; else a slot of the GOT, which holds an address
  bool is_binder = false;  // an entry through which the dynamic loader binds, where calls go to another one
};

struct FunctionMatches {
  std::vector<const Function*> functions;  // all overloads, instances and copies that match
  std::vector<std::string> inlined_at;  // no out-of-line copy: "file:line (in caller)" of each inlined call, at most 10
  std::vector<std::string> suggestions;  // nothing matches: near names, best first, at most 5
};

class Program {
 public:
  // `globs` choose the modules whose functions get a frame (--modules), against path or file name; empty: the program
  // and its own libraries, that is all that are not under the system's library directories.
  Program(Debugger& debugger, std::vector<std::string> globs, FrameTable& frames);
  ~Program();

  // Reads the modules anew: after a launch, and when libraries were loaded. Functions of modules that are still there
  // stay valid. Files that cannot be read are skipped, with one warning through the debugger at the end.
  Result<void> refresh();

  const std::vector<Module>& modules() const;

  // The globs that no module has matched in any refresh.
  std::vector<std::string> unmatched_globs() const;

  // Without globs, the module that holds the address is in scope from now on: a trigger's own, a system library's too.
  void take_into_scope(Address address);

  // Do functions of this module get a frame of their own?
  bool in_scope(std::size_t module) const;
  bool in_scope_at(Address address) const;

  // The function that holds the address; null where no module or no function does. Cold parts are functions of their
  // own.
  const Function* function_at(Address address) const;
  // The module that holds the address.
  std::optional<std::size_t> module_at(Address address) const;

  // All functions of a module, by address.
  std::vector<const Function*> functions(std::size_t module) const;

  // What a PLT entry (an address in .plt, .plt.sec, .plt.got) or a slot of the GOT stands for: the symbol's linkage
  // name. Empty if the address is neither.
  std::string_view imported_at(Address address) const;

  // All places in a module for which `imported_at` has a name, by address.
  std::vector<Import> imports(std::size_t module) const;

  // What the module's file holds for [from, from + size), as far as one section of it goes.
  std::span<const std::byte> file_bytes(Address from, std::size_t size) const;

  // The definition of a symbol (linkage name) in the modules in scope, the program first; null if they have none.
  const Function* definition(std::string_view linkage_name) const;
  // The same over all modules, those out of scope too: exported symbols only.
  const Function* exported(std::string_view linkage_name) const;

  // Entries of functions in scope whose address is taken: found in data (tables, vtables, relocated words) or by an
  // instruction of the module (`lea`, immediate moves). In order of address. Computed once a module.
  std::vector<const Function*> address_taken() const;

  // By what the user typed: a bare name takes all overloads and template instances, in any namespace or class
  // ("parse", "Parser::parse", "ns::Parser<int>::parse"); a name with parameters takes just those. Also by linkage
  // name, and "0x1234" an entry address. Only functions in executable modules, in scope or not; those in scope win over
  // those that are not.
  FunctionMatches find(std::string_view typed) const;

  // Function names that begin with what was typed, bare, sorted, at most `limit`. For completion.
  std::vector<std::string> complete(std::string_view typed, std::size_t limit) const;

  // The frame of a function, and that of an import by its linkage name: interned.
  FrameId frame(const Function& function);
  FrameId import_frame(std::string_view linkage_name);
  // The frame of an address no function holds: "module+0xoffset", or "[jit] 0xaddress" where there is no module.
  FrameId unknown_frame(Address address);

  // The calls inlined into a function: sorted by start, outer before inner. Empty without debug information.
  const std::vector<InlinedRange>& inlined(const Function& function);

  // Where the frame of the caller lies, from the unwind information at a return address: the address of the caller's
  // own return-address slot. `stack` is the stack pointer after the return, `frame_pointer` rbp. Nothing where there is
  // no (simple) rule.
  std::optional<Address> frame_slot(Address return_address, Address stack, Address frame_pointer) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flamb
