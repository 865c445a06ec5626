#pragma once

#include <stdint.h>

/*
 * What libflamb.so exports, for a host debugger that is scripted rather than linked: GDB's Python calls it through
 * ctypes.
 *
 * The host fills a flamb_callbacks table, opens a session with it and runs one command in it. The library calls back
 * for whatever it wants of the debugger, always on the thread that runs the command. A callback gives its result
 * through the flamb_reply_* functions and returns FLAMB_DONE; it returns FLAMB_FAILED after flamb_reply_error, or
 * without it when the user interrupted it. Strings are UTF-8 and end in a zero byte; those that the library is given
 * are copied. No exception crosses in either direction.
 */

#define FLAMB_ABI_VERSION 3u

#ifdef __cplusplus
#define FLAMB_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define FLAMB_EXPORT __attribute__((visibility("default")))
#endif

typedef struct flamb_session flamb_session;

/* 0 is also what ctypes returns for a Python function that raised. */
enum { FLAMB_FAILED = 0, FLAMB_DONE = 1 };

/* Values of the kinds below are those of the enumerations in debugger.h and result.h, in their order from 0. */
typedef struct flamb_callbacks {
  uint32_t version; /* FLAMB_ABI_VERSION */
  uint32_t size;    /* sizeof(flamb_callbacks) */
  const char* debugger_name;

  int32_t (*target)(void);          /* flamb_reply_target */
  int32_t (*native_thread)(void);   /* a native process whose tracer is the calling thread: flamb_reply_number: pid, a
                                       stopped thread, its rsp. Fails for any other target */
  int32_t (*modules)(void);         /* flamb_reply_module, each; asked for only where /proc does not tell */
  int32_t (*threads)(void);         /* flamb_reply_number, each */
  int32_t (*selected_thread)(void); /* flamb_reply_number */
  int32_t (*read_register)(uint64_t thread, int32_t number);         /* flamb_reply_number */
  int32_t (*read_memory)(uint64_t from, void* bytes, uint64_t size); /* writes to `bytes` */
  int32_t (*callers)(uint64_t thread, uint64_t limit);               /* flamb_reply_number, each */
  int32_t (*set_breakpoint)(uint64_t id, uint64_t where);            /* when hit: flamb_breakpoint_hit with the id */
  int32_t (*remove_breakpoint)(uint64_t id);
  int32_t (*breakpoint_addresses)(void);      /* flamb_reply_number, each */
  int32_t (*steps_off_again)(uint64_t where); /* is a thread to step off a breakpoint there once more, after a
                                                 signal that came in between? flamb_reply_number: 0 or 1 */
  int32_t (*memory_changed)(void);            /* what is cached of it, and of frames, no longer holds */
  int32_t (*launch)(void);                    /* flamb_reply_stop */
  int32_t (*resume)(void);                    /* flamb_reply_stop */
  int32_t (*step)(uint64_t thread);           /* flamb_reply_stop */
  int32_t (*call)(const char* expression, int32_t alone); /* flamb_reply_text or flamb_reply_stop; alone: the other
                                                             threads stay stopped */
  int32_t (*expect_return_value)(uint64_t thread);
  int32_t (*return_value)(uint64_t thread, uint64_t function); /* flamb_reply_text */
  int32_t (*suspend_user_breakpoints)(int32_t suspend);
  int32_t (*poll)(void); /* lets a pending Ctrl-C be noted */
  int32_t (*print)(const char* text);
  int32_t (*progress)(const char* line);
} flamb_callbacks;

FLAMB_EXPORT uint32_t flamb_abi_version(void);
FLAMB_EXPORT const char* flamb_version(void);

/* The calling thread becomes the session's. The table must outlive the session. Null when the table is of another
   version: flamb_last_error says so. */
FLAMB_EXPORT flamb_session* flamb_open(const flamb_callbacks* callbacks);
FLAMB_EXPORT void flamb_close(flamb_session* session);

/* Why flamb_open failed. */
FLAMB_EXPORT const char* flamb_last_error(void);

/* Runs what follows `flamb` on the command line. FLAMB_FAILED: flamb_error has the message. */
FLAMB_EXPORT int32_t flamb_run(flamb_session* session, const char* line);
FLAMB_EXPORT const char* flamb_error(flamb_session* session);

/* What the last command made, for scripts. The text lives until the session's next call. */
enum { FLAMB_RESULT_FILE = 0, FLAMB_RESULT_VALUE = 1, FLAMB_RESULT_DATA = 2 };
FLAMB_EXPORT uint64_t flamb_result_count(flamb_session* session, int32_t kind);
FLAMB_EXPORT const char* flamb_result(flamb_session* session, int32_t kind, uint64_t index, uint64_t* size);

/* The help of "", "capture" or "apply". The text lives until the next call. */
FLAMB_EXPORT const char* flamb_help(const char* topic);

/* Completions of the last word of what follows `flamb`: how many, and each until the next call.
   FLAMB_COMPLETE_EXPRESSION: there is one, what was typed of an expression, which the host completes. */
enum { FLAMB_COMPLETE_WORDS = 0, FLAMB_COMPLETE_EXPRESSION = 1 };
FLAMB_EXPORT int32_t flamb_complete(flamb_session* session, const char* line, uint64_t* count);
FLAMB_EXPORT const char* flamb_completion(flamb_session* session, uint64_t index);

/* Inside the host debugger's own stop, on the thread of the session: 1 when the target is to stay stopped. */
FLAMB_EXPORT int32_t flamb_breakpoint_hit(flamb_session* session, uint64_t id, uint64_t thread);
/* During the callback `call`: a function is about to be called on a thread. */
FLAMB_EXPORT void flamb_calling(flamb_session* session, uint64_t thread, uint64_t address);
/* The user pressed Ctrl-C. */
FLAMB_EXPORT void flamb_note_interrupt(flamb_session* session);

FLAMB_EXPORT void flamb_reply_error(flamb_session* session, int32_t fault, const char* message,
                                    const char* next_action);
FLAMB_EXPORT void flamb_reply_target(flamb_session* session, int32_t state, const char* program, int64_t pid,
                                     int32_t is_local);
FLAMB_EXPORT void flamb_reply_number(flamb_session* session, uint64_t number);
FLAMB_EXPORT void flamb_reply_text(flamb_session* session, const char* text);
FLAMB_EXPORT void flamb_reply_module(flamb_session* session, const char* path, uint64_t load_bias, int32_t is_program);
FLAMB_EXPORT void flamb_reply_stop(flamb_session* session, int32_t kind, uint64_t thread, int32_t code,
                                   const char* description);
