// What the targets share: functions that stay functions in every build, and a place for results to go.
#ifndef FLAMB_TESTS_TARGET_H
#define FLAMB_TESTS_TARGET_H

// noipa keeps GCC from cloning, inlining or dropping a function; for Clang a function that touches `sink` is kept as it
// is.
#ifdef __clang__
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noinline, noipa))
#endif

// A return that is a tail call at -O2: GCC makes it one by itself, Clang has to be told.
#ifdef __clang__
#define TAIL_CALL __attribute__((musttail)) return
#else
#define TAIL_CALL return
#endif

static volatile int sink;

#endif
