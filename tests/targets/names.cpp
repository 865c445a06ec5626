// Names that break formats: every format stays valid and no stack is lost. In collapsed stacks `;` is written `:`,
// and a leaf that ends in a number has `_` before it.
// flags: -fno-optimize-sibling-calls
// builds: gcc-O0
//
// flamb: capture work --output-format collapsed,svg,text
// expect: invocation 1
//   work(int) 1
//   work(int);with space 1
//   work(int);semi:colon 1
//   work(int);std::vector<int, a & b> 1
//   work(int);double"quote 1
//   work(int);single'quote 1
//   work(int);größe_名前 1
//   work(int);ends in_12 1
//   work(int);</text><script> 1
//   work(int);back\slash 1
//   work(int);mycrate::foo 1
//   work(int);@long@ 1
// stopped-in: main
#include "target.h"

// A function of one instruction, and its place in the table. The name is in the assembler's quotes.
#define NAMED(name)                            \
  asm(".text\n"                                \
      ".p2align 4\n"                           \
      ".globl \"" name                         \
      "\"\n"                                   \
      ".type \"" name                          \
      "\", @function\n"                        \
      "\"" name                                \
      "\":\n"                                  \
      ".cfi_startproc\n"                       \
      "ret\n"                                  \
      ".cfi_endproc\n"                         \
      ".size \"" name                          \
      "\", 1\n"                                \
      ".p2align 4\n"                           \
      ".pushsection .data.rel.named, \"aw\"\n" \
      ".quad \"" name                          \
      "\"\n"                                   \
      ".popsection\n")

#define TEN(text) text text text text text text text text text text

asm(".pushsection .data.rel.named, \"aw\"\n"
    ".globl named\n"
    "named:\n"
    ".popsection\n");
NAMED("with space");
NAMED("semi;colon");
NAMED("std::vector<int, a & b>");
NAMED("double\\\"quote");
NAMED("single'quote");
NAMED("größe_名前");
NAMED("ends in 12");
NAMED("</text><script>");
NAMED("back\\\\slash");
NAMED("_RNvCs1234_7mycrate3foo");
NAMED(TEN(TEN(TEN("long_name_"))));
asm(".pushsection .data.rel.named, \"aw\"\n"
    ".quad 0\n"
    ".popsection\n");

extern "C" void (*const volatile named[])();

FUNCTION void work(int n) {
  for (int i = 0; named[i] != nullptr; ++i) named[i]();
  sink = n;
}

int main() {
  work(1);
  return 0;
}
