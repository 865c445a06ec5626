// Loaded by contract_target while it runs.
extern "C" __attribute__((noinline, visibility("default"))) int library_function(int value) { return value + 1; }
