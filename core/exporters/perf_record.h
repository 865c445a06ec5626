#pragma once

#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

// How the parts of a perf.data file are encoded: tools/perf/Documentation/perf.data-file-format.txt and
// include/uapi/linux/perf_event.h of the kernel. Numbers are in the order of the machine: flamb's is little endian.
namespace flamb {

template <class T>
void put(std::string& to, const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && std::endian::native == std::endian::little);
  const auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
  to.append(bytes.data(), bytes.size());
}

// With at least one NUL, and as many as it takes to fill up words of `alignment` bytes.
inline void put_padded(std::string& to, std::string_view text, std::size_t alignment) {
  to.append(text).append(alignment - text.size() % alignment, '\0');
}

constexpr std::size_t padded_size(std::string_view text, std::size_t alignment) {
  return (text.size() / alignment + 1) * alignment;
}

// perf_header_string of the file's feature sections.
inline void put_string(std::string& to, std::string_view text) {
  constexpr std::size_t alignment = 64;  // NAME_ALIGN of tools/perf/util/header.c
  put(to, static_cast<std::uint32_t>(padded_size(text, alignment)));
  put_padded(to, text, alignment);
}

// Who was on a CPU, and when: the fields of struct sample_id for the sample type of perf_attribute.
struct PerfMoment {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t time = 0;
  std::uint32_t cpu = 0;
  std::uint32_t reserved = 0;
};

// The part of struct perf_event_attr that perf has known since version 5 of it: one that knows less than a file has
// refuses to read it, and nothing newer is of use here.
using PerfAttribute = std::array<char, PERF_ATTR_SIZE_VER5>;

inline PerfAttribute perf_attribute() {
  perf_event_attr attribute{};
  attribute.type = PERF_TYPE_SOFTWARE;
  attribute.size = PERF_ATTR_SIZE_VER5;
  attribute.config = PERF_COUNT_SW_TASK_CLOCK;  // there is none for calls; the name that is shown is in the features
  attribute.sample_period = 1;
  attribute.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN |
                          PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
  attribute.exclude_kernel = 1;
  attribute.mmap = 1;
  attribute.mmap2 = 1;
  attribute.comm = 1;
  attribute.comm_exec = 1;
  attribute.task = 1;
  attribute.sample_id_all = 1;
  PerfAttribute known;
  std::memcpy(known.data(), &attribute, known.size());
  return known;
}

// A record of the data section. Its bytes stay valid until the next begin().
class PerfRecord {
 public:
  void begin(std::uint32_t type, std::uint16_t misc) {
    bytes_.clear();
    put(bytes_, perf_event_header{type, misc, 0});
  }
  template <class T>
  void add(const T& value) {
    put(bytes_, value);
  }
  void add_text(std::string_view text) { put_padded(bytes_, text, 8); }

  // The whole record.
  std::string_view end() {
    const auto size = static_cast<std::uint16_t>(bytes_.size());
    std::memcpy(bytes_.data() + offsetof(perf_event_header, size), &size, sizeof(size));
    return bytes_;
  }

 private:
  std::string bytes_;
};

}  // namespace flamb
