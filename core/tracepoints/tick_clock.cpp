#include "tracepoints/tick_clock.h"

#include <x86intrin.h>

namespace flamb {

TickClock::TickClock() : ticks_(ticks()), time_(std::chrono::steady_clock::now()) {}

std::uint64_t TickClock::ticks() { return __rdtsc(); }

double TickClock::nanoseconds_per_tick() const {
  const double passed = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - time_).count();
  return passed / static_cast<double>(ticks() - ticks_);
}

}  // namespace flamb
