// What run.py measures tracepoints on. Prints the nanoseconds that the trigger took by the program's own clock.
//
//   tracepoint_target fib N       a recursion
//   tracepoint_target mixed N     N calls of a dozen functions of different length
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define FUNCTION __attribute__((noinline, noclone))

namespace {

volatile unsigned sink;

FUNCTION unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

template <unsigned Length>
FUNCTION unsigned loop(unsigned value) {
  for (unsigned each = 0; each < Length; ++each) sink = sink + each * value;
  return sink;
}

template <unsigned Length>
FUNCTION unsigned pair(unsigned value) {
  return loop<Length>(value) + loop<Length + 1>(value + 1);
}

FUNCTION unsigned mixed(unsigned calls) {
  unsigned sum = 0;
  for (unsigned made = 0; made < calls; made += 12) {
    sum += pair<1>(made) + pair<2>(sum) + pair<4>(made) + pair<8>(sum);
  }
  return sum;
}

FUNCTION unsigned work(const char* what, unsigned n) { return std::strcmp(what, "fib") == 0 ? fib(n) : mixed(n); }

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const auto size = static_cast<unsigned>(std::strtoul(words[2], nullptr, 10));
  work(words[1], size / 8);  // warm
  const auto start = std::chrono::steady_clock::now();
  sink = work(words[1], size);
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  std::printf("nanoseconds %lld\n", static_cast<long long>(took.count()));
}
