#pragma once

#include <elf.h>
#include <linux/perf_event.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// Reads what the exporter perf-data writes, by the kernel's description of the format and nothing of the exporter's.
// Throws where something does not fit.
namespace flamb {

struct PerfSample {
  std::vector<std::string> stack;  // root first
  std::uint64_t weight = 0;
  std::uint64_t time = 0;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
};

struct PerfFile {
  std::vector<PerfSample> samples;
  std::map<std::uint32_t, std::string> threads;  // names by tid
  std::map<unsigned, std::string> features;      // content by bit
  std::string mapped;                            // path
};

class PerfReader {
 public:
  PerfReader(std::string data, std::string symbols) : data_(std::move(data)), symbols_(std::move(symbols)) {}

  PerfFile read() {
    read_names();
    if (data_.substr(0, 8) != "PERFILE2" || get<std::uint64_t>(8) != 104) throw std::runtime_error("no header");
    const auto begin = get<std::uint64_t>(40);
    const std::uint64_t end = begin + get<std::uint64_t>(48);
    for (std::uint64_t at = begin; at < end;) {
      const auto header = get<perf_event_header>(at);
      if (header.size < sizeof(header) || header.size % 8 != 0) throw std::runtime_error("a record's size is wrong");
      read_record(header, at + sizeof(header), at + header.size);
      at += header.size;
    }
    read_features(end);
    return std::move(file_);
  }

 private:
  template <class T>
  T get(std::uint64_t at, const std::string& from) const {
    if (at + sizeof(T) > from.size()) throw std::runtime_error("the file is too short");
    T value;
    std::memcpy(&value, from.data() + at, sizeof(T));
    return value;
  }
  template <class T>
  T get(std::uint64_t at) const {
    return get<T>(at, data_);
  }
  std::string text(std::uint64_t at, const std::string& from) const { return from.c_str() + at; }

  void read_record(const perf_event_header& header, std::uint64_t at, std::uint64_t end) {
    if (header.type == PERF_RECORD_COMM) file_.threads[get<std::uint32_t>(at + 4)] = text(at + 8, data_);
    if (header.type == PERF_RECORD_MMAP2) {
      mapped_at_ = get<std::uint64_t>(at + 8);
      file_.mapped = text(at + 64, data_);
    }
    if (header.type == PERF_RECORD_SAMPLE) read_sample(at, end);
  }

  // IP, TID, TIME, CPU, PERIOD, CALLCHAIN
  void read_sample(std::uint64_t at, std::uint64_t end) {
    PerfSample sample;
    sample.pid = get<std::uint32_t>(at + 8);
    sample.tid = get<std::uint32_t>(at + 12);
    sample.time = get<std::uint64_t>(at + 16);
    sample.weight = get<std::uint64_t>(at + 32);
    const auto count = get<std::uint64_t>(at + 40);
    if (at + 48 + count * 8 != end) throw std::runtime_error("a stack does not fill its record");
    if (get<std::uint64_t>(at + 48) != static_cast<std::uint64_t>(PERF_CONTEXT_USER))
      throw std::runtime_error("context");
    if (get<std::uint64_t>(at) != get<std::uint64_t>(at + 56)) throw std::runtime_error("ip is not the leaf's");
    for (std::uint64_t each = count - 1; each > 0; --each) {
      const auto address = get<std::uint64_t>(at + 48 + each * 8) - mapped_at_;
      const auto name = --names_.upper_bound(address);
      if (address >= name->first + 16) throw std::runtime_error("an address has no name");
      sample.stack.push_back(name->second);
    }
    file_.samples.push_back(std::move(sample));
  }

  void read_features(std::uint64_t at) {
    const auto bits = get<std::uint64_t>(72);
    std::uint64_t end = 0;
    for (unsigned bit = 0; bit < 64; ++bit) {
      if ((bits >> bit & 1U) == 0) continue;
      const auto offset = get<std::uint64_t>(at);
      const auto size = get<std::uint64_t>(at + 8);
      file_.features[bit] = data_.substr(offset, size);
      end = offset + size;
      at += 16;
    }
    if (end != data_.size()) throw std::runtime_error("the file does not end with its last feature");
  }

  void read_names() {
    const auto header = get<Elf64_Ehdr>(0, symbols_);
    if (header.e_type != ET_DYN || header.e_shnum != 5) throw std::runtime_error("no library");
    const auto symbols = get<Elf64_Shdr>(header.e_shoff + 2 * sizeof(Elf64_Shdr), symbols_);
    const auto strings = get<Elf64_Shdr>(header.e_shoff + 3 * sizeof(Elf64_Shdr), symbols_);
    for (std::uint64_t at = sizeof(Elf64_Sym); at < symbols.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = get<Elf64_Sym>(symbols.sh_offset + at, symbols_);
      names_[symbol.st_value] = text(strings.sh_offset + symbol.st_name, symbols_);
    }
  }

  std::string data_;
  std::string symbols_;
  std::uint64_t mapped_at_ = 0;
  std::map<std::uint64_t, std::string> names_;
  PerfFile file_;
};

}  // namespace flamb
