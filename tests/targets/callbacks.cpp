// A function of a system library is one leaf frame; what it calls back is below it.
// flags: -fno-optimize-sibling-calls -fno-builtin
//
// flamb: capture work
// expect: invocation 1
//   work(int) 1
//   work(int);sort(int*, int) 1
//   work(int);sort(int*, int);qsort 1
//   work(int);sort(int*, int);qsort;compare(void const*, void const*) 5
//   work(int);sort(int*, int);qsort;compare(void const*, void const*);leaf(int) 5
//   work(int);search(int*, int) 1
//   work(int);search(int*, int);lfind 1
//   work(int);search(int*, int);lfind;compare(void const*, void const*) 2
//   work(int);search(int*, int);lfind;compare(void const*, void const*);leaf(int) 2
//   work(int);malloc 1
//   work(int);strtol 2
//   work(int);free 1
// stopped-in: main
#include <cstdlib>

#include "target.h"

// <search.h> would claim the name `leaf`.
extern "C" void* lfind(const void* wanted, const void* first, size_t* count, size_t size,
                       int (*compare)(const void*, const void*));

FUNCTION void leaf(int n) { sink = n; }

FUNCTION int compare(const void* left, const void* right) {
  int difference = *static_cast<const int*>(left) - *static_cast<const int*>(right);
  leaf(difference);
  return difference;
}

FUNCTION void sort(int* numbers, int count) {
  qsort(numbers, static_cast<size_t>(count), sizeof(int), compare);
  sink = numbers[0];
}

FUNCTION void search(int* numbers, int count) {
  int wanted = 2;
  size_t size = static_cast<size_t>(count);
  sink = lfind(&wanted, numbers, &size, sizeof(int), compare) != nullptr;
}

FUNCTION void work(int n) {
  int numbers[] = {4, 2, n, 3};
  sort(numbers, 4);
  search(numbers, 4);
  void* volatile block = malloc(16);
  sink = static_cast<int>(strtol("12", nullptr, 10));
  sink = static_cast<int>(strtol("34", nullptr, 10));
  free(block);
  sink = n;
}

int main() {
  work(1);
  return 0;
}
