// What the targets share: functions that stay functions in every build, and a place for results to go.
#ifndef FLAMB_TESTS_TARGET_H
#define FLAMB_TESTS_TARGET_H

// noipa keeps GCC from cloning, inlining or dropping a function; for Clang a function that touches `sink` is kept as it is.
#ifdef __clang__
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noinline, noipa))
#endif

static volatile int sink;

#endif
