// Threads that end, wait and start others inside the trigger.
// flags: -fno-optimize-sibling-calls
// link: -pthread
// builds: gcc-O0 clang-O2
// builds[stepping]: gcc-O0
//
// The thread ends inside the trigger: what there is is written.
// flamb: capture work_and_end
// expect: invocation 1
//   work_and_end(int) 1
//   work_and_end(int);leaf(int) 1
//   work_and_end(int);end_thread(int) 1
//   work_and_end(int);end_thread(int);pthread_exit 1
// incomplete: thread exited
//
// One thread waits for a lock that another holds: the other must run on.
// flamb: capture wait_for_lock
// expect: invocation 1
//   wait_for_lock(int) 1
//   wait_for_lock(int);pthread_mutex_lock 1
//   wait_for_lock(int);leaf(int) 1
//   wait_for_lock(int);pthread_mutex_unlock 1
//
// What another thread runs meanwhile is not part of the invocation.
// flamb: capture start_other
// expect: invocation 1
//   start_other(int) 1
//   start_other(int);pthread_create 1
//   start_other(int);leaf(int) 1
//   start_other(int);pthread_join 1
// stopped-in: main
#include <pthread.h>
#include <semaphore.h>

#include "target.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_locked;

FUNCTION void leaf(int n) { sink = n; }

FUNCTION void end_thread(int n) {
  sink = n;
  pthread_exit(nullptr);
}

FUNCTION void work_and_end(int n) {
  leaf(n);
  end_thread(n);
  leaf(n);
  sink = n;
}

static void* run_to_end(void*) {
  work_and_end(1);
  return nullptr;
}

FUNCTION void other_work(int n) { leaf(n); }

static void* hold_lock(void*) {
  pthread_mutex_lock(&lock);
  sem_post(&is_locked);
  for (int i = 0; i < 100; ++i) other_work(i);
  pthread_mutex_unlock(&lock);
  return nullptr;
}

FUNCTION void wait_for_lock(int n) {
  pthread_mutex_lock(&lock);
  leaf(n);
  pthread_mutex_unlock(&lock);
  sink = n;
}

static void* run_other(void*) {
  for (int i = 0; i < 10; ++i) other_work(i);
  return nullptr;
}

FUNCTION void start_other(int n) {
  pthread_t thread;
  pthread_create(&thread, nullptr, run_other, nullptr);
  leaf(n);
  pthread_join(thread, nullptr);
  sink = n;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, run_to_end, nullptr);
  pthread_join(thread, nullptr);
  sem_init(&is_locked, 0, 0);
  pthread_create(&thread, nullptr, hold_lock, nullptr);
  sem_wait(&is_locked);
  wait_for_lock(1);
  pthread_join(thread, nullptr);
  start_other(2);
  return 0;
}
