#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace flamb {

// Calls `expire` once, on a thread of its own, unless it is destroyed before the time has passed.
class Deadline {
 public:
  Deadline(std::optional<double> seconds, std::function<void()> expire);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  bool has_expired() const { return has_expired_; }

 private:
  std::mutex mutex_;
  std::condition_variable cancelled_;
  bool is_cancelled_ = false;
  std::atomic<bool> has_expired_ = false;
  std::thread thread_;
};

}  // namespace flamb
