#include "deadline.h"

#include <chrono>
#include <csignal>

namespace flamb {
namespace {

// Signals are for the host debugger's own threads: Ctrl-C must not end up here.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

Deadline::Deadline(std::optional<double> seconds, std::function<void()> expire) {
  if (!seconds) return;
  const BlockedSignals blocked;  // the new thread inherits the mask
  thread_ = std::thread([this, limit = std::chrono::duration<double>(*seconds), expire = std::move(expire)] {
    std::unique_lock lock(mutex_);
    if (cancelled_.wait_for(lock, limit, [this] { return is_cancelled_; })) return;
    has_expired_ = true;
    expire();
  });
}

Deadline::~Deadline() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
  }
  cancelled_.notify_one();
  thread_.join();
}

}  // namespace flamb
