#include "lldb_terminal.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace flamb {

namespace {

constexpr int kMostDescriptors = 4096;
constexpr int kAskAgainMilliseconds = 50;

std::string file_of(lldb::pid_t process, std::uint64_t descriptor) {
  std::error_code error;
  return std::filesystem::read_symlink(fmt::format("/proc/{}/fd/{}", process, descriptor), error);
}

// The target's input if it is a pseudo terminal whose other end LLDB holds, else empty. Then LLDB started the target,
// without a terminal or file of its own.
std::string terminal_from_lldb(lldb::pid_t process) {
  const std::string input = file_of(process, 0);
  if (!input.starts_with("/dev/pts/")) return {};
  for (int descriptor = 0; descriptor < kMostDescriptors; ++descriptor) {
    int number = 0;
    if (ioctl(descriptor, TIOCGPTN, &number) == 0 && input == fmt::format("/dev/pts/{}", number)) return input;
  }
  return {};
}

// Is the thread in a system call that reads from the terminal, or waits for files of which the terminal may be one?
bool waits_for_input(lldb::pid_t process, lldb::tid_t thread, const std::string& input) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/syscall", process, thread));
  long call = 0;
  std::string descriptor;  // in hexadecimal
  if (!(file >> call >> descriptor)) return false;
  switch (call) {
    case SYS_read:
    case SYS_readv: return file_of(process, std::strtoull(descriptor.c_str(), nullptr, 16)) == input;
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait: return true;
    default: return false;
  }
}

bool waits_for_input(lldb::pid_t process, const std::string& input) {
  std::error_code error;
  const std::filesystem::directory_iterator tasks(fmt::format("/proc/{}/task", process), error);
  for (auto task = begin(tasks); !error && task != end(tasks); task.increment(error)) {
    const lldb::tid_t thread = std::strtoull(task->path().filename().c_str(), nullptr, 10);
    if (waits_for_input(process, thread, input)) return true;
  }
  return false;
}

}  // namespace

TerminalInput::TerminalInput(lldb::SBDebugger debugger, const lldb::SBProcess& process) : process_(process) {
  FILE* in = debugger.GetInputFileHandle();
  // In the background, a change of the terminal would stop LLDB.
  if (!in || isatty(fileno(in)) != 1 || tcgetpgrp(fileno(in)) != getpgrp()) return;
  input_ = terminal_from_lldb(process_.GetProcessID());
  if (input_.empty()) return;
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

bool TerminalInput::is_over(int milliseconds) const {
  pollfd end{.fd = end_, .events = POLLIN, .revents = 0};
  return poll(&end, 1, milliseconds) > 0;
}

void TerminalInput::forward() {
  std::array<pollfd, 2> ready{{{terminal_, POLLIN, 0}, {end_, POLLIN, 0}}};
  std::array<char, 256> text{};
  for (;;) {
    poll(ready.data(), ready.size(), -1);
    while (!is_over(0) && !waits_for_input(process_.GetProcessID(), input_)) is_over(kAskAgainMilliseconds);
    if (is_over(0)) return;
    const ssize_t got = read(terminal_, text.data(), text.size());
    if (got <= 0) return;
    process_.PutSTDIN(text.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace flamb
