#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <vector>

#include "debugger.h"
#include "result.h"

namespace flamb {

// The memory of a stopped process on this machine, past its debugger: through /proc/PID/mem, which also writes to code
// that the process itself may only read.
class TargetMemory {
 public:
  static Result<TargetMemory> open(pid_t pid);
  ~TargetMemory();
  TargetMemory(TargetMemory&& other) noexcept;
  TargetMemory& operator=(TargetMemory&&) = delete;
  TargetMemory(const TargetMemory&) = delete;
  TargetMemory& operator=(const TargetMemory&) = delete;

  // Whole, or not at all.
  bool read(Address from, std::span<std::byte> bytes) const;
  bool write(Address to, std::span<const std::byte> bytes) const;

  template <class T>
  std::optional<T> read(Address from) const {
    T value;
    if (!read(from, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
    return value;
  }
  template <class T>
  bool write(Address to, const T& value) const {
    return write(to, std::as_bytes(std::span(&value, 1)));
  }

 private:
  explicit TargetMemory(int file) : file_(file) {}

  int file_;
};

// A stretch of a process's address space.
struct AddressRange {
  Address start = 0;
  Address end = 0;
};

// Where `size` bytes are free in the process within reach of a 32-bit displacement from all of `near`; nothing if there
// is no such place.
std::optional<Address> find_free_range(pid_t pid, const AddressRange& near, std::size_t size);

}  // namespace flamb
