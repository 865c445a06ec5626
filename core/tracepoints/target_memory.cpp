#include "tracepoints/target_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

namespace flamb {
namespace {

constexpr Address reach = (Address{1} << 31) - (Address{1} << 20);
// Left free around what is there: the heap and the stack grow.
constexpr Address margin = Address{1} << 20;
constexpr Address heap_room = Address{1} << 28;
constexpr Address lowest = Address{1} << 16;
constexpr Address highest = Address{1} << 47;
constexpr Address page = 4096;

struct Mapping {
  AddressRange range;
  bool is_heap = false;
};

std::vector<Mapping> mappings(pid_t pid) {
  std::vector<Mapping> all;
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    Mapping mapping;
    const char* const end = line.data() + line.size();
    const auto start = std::from_chars(line.data(), end, mapping.range.start, 16);
    if (start.ec != std::errc() || start.ptr == end) continue;
    if (std::from_chars(start.ptr + 1, end, mapping.range.end, 16).ec != std::errc()) continue;
    mapping.is_heap = line.ends_with("[heap]");
    all.push_back(mapping);
  }
  return all;
}

bool is_within_reach(Address at, std::size_t size, const AddressRange& near) {
  const Address low = std::min(at, near.start);
  const Address high = std::max(at + size, near.end);
  return high - low <= reach;
}

}  // namespace

Result<TargetMemory> TargetMemory::open(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/mem", pid);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);  // NOLINT: the system's interface
  if (file < 0) return fail(Fault::target, fmt::format("{} cannot be opened: {}", path, std::strerror(errno)));
  return TargetMemory(file);
}

TargetMemory::TargetMemory(TargetMemory&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

TargetMemory::~TargetMemory() {
  if (file_ >= 0) close(file_);
}

bool TargetMemory::read(Address from, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = pread(file_, bytes.data(), bytes.size(), static_cast<off_t>(from));
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    from += static_cast<Address>(count);
  }
  return true;
}

bool TargetMemory::write(Address to, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(to));
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    to += static_cast<Address>(count);
  }
  return true;
}

// The nearest gap, below by preference: what is above a program is its heap.
std::optional<Address> find_free_range(pid_t pid, const AddressRange& near, std::size_t size) {
  std::optional<Address> best;
  const auto distance = [&](Address at) { return at < near.start ? near.start - at : 2 * (at - near.start); };
  const auto consider = [&](Address at) {
    at &= ~(page - 1);
    if (is_within_reach(at, size, near) && (!best || distance(at) < distance(*best))) best = at;
  };
  Address free_from = lowest;
  for (const Mapping& mapping : mappings(pid)) {
    const Address free_to = std::max(mapping.range.start, margin) - margin;
    if (mapping.range.start >= highest) break;
    if (free_to > free_from && free_to - free_from >= size + page) {
      consider(free_to - size);
      consider(free_from + page - 1);
    }
    free_from = mapping.range.end + (mapping.is_heap ? heap_room : margin);
  }
  return best;
}

}  // namespace flamb
