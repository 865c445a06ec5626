#pragma once

#include <chrono>
#include <cstdint>

namespace flamb {

// The processor's time stamp counter against the clock.
class TickClock {
 public:
  TickClock();
  // From the construction up to now.
  double nanoseconds_per_tick() const;
  static std::uint64_t ticks();

 private:
  std::uint64_t ticks_;
  std::chrono::steady_clock::time_point time_;
};

}  // namespace flamb
