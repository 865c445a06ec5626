/* A library of another version of the C interface. */
unsigned flamb_abi_version(void) { return 999; }
