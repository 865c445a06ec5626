#include <cstdio>

#include "viewer.h"

// open_file PROGRAM FILE: what --open does.
int main(int count, char** words) {
  if (count != 3) {
    std::fputs("usage: open_file PROGRAM FILE\n", stderr);
    return 2;
  }
  const auto opened = flamb::open_viewer(words[1], words[2]);
  if (opened) {
    std::puts(opened->c_str());
  } else {
    std::fprintf(stderr, "%s\n%s\n", opened.error().message.c_str(), opened.error().next_action.c_str());
  }
  return opened ? 0 : 1;
}
