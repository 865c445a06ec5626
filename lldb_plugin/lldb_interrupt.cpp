#include "lldb_interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

namespace flamb {

namespace {

std::atomic<Interrupts*> current = nullptr;

// LLDB ignores an interrupt that comes between two runs of the target, as after a breakpoint's hit: so it is repeated.
constexpr int kRepeatMilliseconds = 100;

}  // namespace

Interrupts::Interrupts() : wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  current = this;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &previous_);
  watcher_ = std::thread([this] { watch(); });
}

Interrupts::~Interrupts() {
  sigaction(SIGINT, &previous_, nullptr);
  current = nullptr;
  ended_ = true;
  wake();
  watcher_.join();
  close(wake_fd_);
}

void Interrupts::on_signal(int) {
  const int saved = errno;
  if (Interrupts* interrupts = current.load()) {
    interrupts->pressed_ = true;
    interrupts->request();
  }
  errno = saved;
}

void Interrupts::request() {
  pending_ = true;
  wake();
}

void Interrupts::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(wake_fd_, &one, sizeof one);
}

void Interrupts::run_begins(const lldb::SBProcess& process) {
  const std::lock_guard lock(mutex_);
  process_ = process;
  running_ = true;
  if (pending_) wake();
}

void Interrupts::run_ends() {
  const std::lock_guard lock(mutex_);
  running_ = false;
}

void Interrupts::watch() {
  bool repeat = false;
  while (!ended_) {
    pollfd ready{.fd = wake_fd_, .events = POLLIN, .revents = 0};
    poll(&ready, 1, repeat ? kRepeatMilliseconds : -1);
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = read(wake_fd_, &count, sizeof count);
    const std::lock_guard lock(mutex_);
    repeat = pending_ && running_;
    if (repeat) process_.SendAsyncInterrupt();
  }
}

}  // namespace flamb
