// Eight threads in the trigger at once; each invocation is counted once and none is lost.
// flags: -fno-optimize-sibling-calls
// link: -pthread
// builds: gcc-O2
//
// flamb: capture work 1000
// expect: invocations 1-1000
//   work(int) 1
//   work(int);leaf(int) 2
//
// Fewer than there are: those in flight run to their end, later ones are not recorded.
// both: kill
// flamb: capture work 20 --merge
// expect: merged
//   work(int) 20
//   work(int);leaf(int) 40
#include <pthread.h>

#include "target.h"

static constexpr int threads = 8;
static constexpr int rounds = 125;
static pthread_barrier_t together;

FUNCTION void leaf(int n) { sink = n; }

FUNCTION void work(int n) {
  leaf(n);
  leaf(n + 1);
  sink = n;
}

static void* run(void*) {
  pthread_barrier_wait(&together);
  for (int i = 0; i < rounds; ++i) work(i);
  return nullptr;
}

int main() {
  pthread_barrier_init(&together, nullptr, threads);
  pthread_t all[threads];
  for (pthread_t& thread : all) pthread_create(&thread, nullptr, run, nullptr);
  for (pthread_t& thread : all) pthread_join(thread, nullptr);
  return 0;
}
