#include "lldb_terminal.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

namespace flamb {

namespace {

constexpr int kMostDescriptors = 4096;

// Is the target's input a pseudo terminal whose other end LLDB holds? Then LLDB started it, without a terminal or file
// of its own.
bool reads_from_lldb(const lldb::SBProcess& process) {
  std::error_code error;
  const std::string input =
      std::filesystem::read_symlink(fmt::format("/proc/{}/fd/0", lldb::SBProcess(process).GetProcessID()), error);
  if (error || !input.starts_with("/dev/pts/")) return false;
  for (int descriptor = 0; descriptor < kMostDescriptors; ++descriptor) {
    int number = 0;
    if (ioctl(descriptor, TIOCGPTN, &number) == 0 && input == fmt::format("/dev/pts/{}", number)) return true;
  }
  return false;
}

}  // namespace

TerminalInput::TerminalInput(lldb::SBDebugger debugger, const lldb::SBProcess& process) : process_(process) {
  FILE* in = debugger.GetInputFileHandle();
  // In the background, a change of the terminal would stop LLDB.
  if (!in || isatty(fileno(in)) != 1 || tcgetpgrp(fileno(in)) != getpgrp() || !reads_from_lldb(process)) return;
  if (tcgetattr(fileno(in), &before_) != 0) return;
  end_ = eventfd(0, EFD_CLOEXEC);
  if (end_ < 0) return;
  terminal_ = fileno(in);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // the target's own terminal edits and echoes
  tcsetattr(terminal_, TCSANOW, &raw);
  thread_ = std::thread([this] { forward(); });
}

TerminalInput::~TerminalInput() {
  if (terminal_ < 0) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(end_, &one, sizeof one);
  thread_.join();
  tcsetattr(terminal_, TCSANOW, &before_);
  close(end_);
}

void TerminalInput::forward() {
  std::array<pollfd, 2> ready{{{terminal_, POLLIN, 0}, {end_, POLLIN, 0}}};
  std::array<char, 256> text{};
  for (;;) {
    poll(ready.data(), ready.size(), -1);
    if (ready[1].revents != 0) return;
    if (ready[0].revents == 0) continue;
    const ssize_t got = read(terminal_, text.data(), text.size());
    if (got <= 0) return;
    process_.PutSTDIN(text.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace flamb
