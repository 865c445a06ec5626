#include "proc.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>

namespace flamb {
namespace {

std::string status_text(pid_t pid, std::string_view field) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(field) || line.size() <= field.size() || line[field.size()] != ':') continue;
    const std::size_t start = line.find_first_not_of(" \t", field.size() + 1);
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return {};
}

std::optional<std::uint64_t> status_number(pid_t pid, std::string_view field, int base) {
  const std::string text = status_text(pid, field);
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

std::uint64_t caught_signals(pid_t pid) { return status_number(pid, "SigCgt", 16).value_or(0); }

}  // namespace

std::optional<std::uint64_t> proc_status(pid_t pid, std::string_view field) { return status_number(pid, field, 10); }

bool is_held(pid_t pid) { return status_text(pid, "State").starts_with('t'); }

bool catches_signal(pid_t pid, int signal) {
  return signal >= 1 && signal <= 64 && (caught_signals(pid) >> (signal - 1) & 1) != 0;
}

// Signals 32 and 33 are the C library's own, for its threads.
bool catches_signals(pid_t pid) { return (caught_signals(pid) & ~(std::uint64_t{3} << 31)) != 0; }

bool is_pending(pid_t thread, int signal) {
  return (status_number(thread, "SigPnd", 16).value_or(0) >> (signal - 1) & 1) != 0;
}

std::uint64_t survived_signals(pid_t pid) { return caught_signals(pid) | status_number(pid, "SigIgn", 16).value_or(0); }

std::vector<pid_t> proc_threads(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), error)) {
    const std::string name = entry.path().filename().string();
    pid_t tid = 0;
    std::from_chars(name.data(), name.data() + name.size(), tid);
    threads.push_back(tid);
  }
  return threads;
}

}  // namespace flamb
