#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "debugger.h"
#include "result.h"
#include "tracepoints/relocation.h"

namespace flamb {

// A shared library for the target to load beside one of its modules: for each function a stub, to which the patched
// entry jumps, and the function's continuation. A stub pushes the function's id and jumps to the agent's entry routine.
// The code is made for one address, so that nothing in it needs relocation; debuggers find symbols and unwind
// information, as everywhere. The same functions give the same bytes.
class StubLibrary {
 public:
  struct Function {
    std::uint32_t id = 0;
    FunctionCode code;
    std::string_view name;  // for who sees the stub in a debugger
  };

  struct Patch {
    std::uint32_t id = 0;
    Address entry = 0;
    std::array<std::byte, patch_size> original{};
    std::array<std::byte, patch_size> replacement{};
    std::size_t replaced = 0;  // so many bytes from the entry on never run: the continuation stands for them
    Address continuation = 0;
  };

  struct Refusal {
    std::uint32_t id = 0;
    std::string reason;
  };

  // How many bytes of address space that many functions take at most.
  static std::uint64_t max_size(std::size_t functions);

  // `base`, a multiple of the page size, is where the target will have to load the library: within 2 GB of the
  // functions, and of what they refer to.
  StubLibrary(std::span<const Function> functions, Address base, Address agent_entry);

  // In the order of the functions, as are the refusals.
  const std::vector<Patch>& patches() const { return patches_; }
  const std::vector<Refusal>& refusals() const { return refusals_; }

  Address base() const { return base_; }
  Address end() const { return end_; }

  Result<void> write(const std::string& path) const;

 private:
  Address base_;
  Address end_ = 0;
  std::vector<Patch> patches_;
  std::vector<Refusal> refusals_;
  std::vector<std::uint8_t> file_;
};

}  // namespace flamb
