// For a function that makes no system call, stepping's total is that of callgrind on the same binary.
// It calls a library function that does not depend on the processor: valgrind's looks older to memcpy and the like.
// flags: -fno-optimize-sibling-calls -fno-builtin
// link: -Wl,-z,now
// builds: gcc-O0 gcc-O2 clang-O2
// collectors: stepping
//
// flamb: capture work --measure instructions
// expect: callgrind total work(int)
// stopped-in: main
#include <cstdlib>

#include "target.h"

struct Node {
  Node* left;
  Node* right;
  int key;
};

static Node room[64];
static int used;

FUNCTION Node* insert(Node* node, int key) {
  if (node == nullptr) {
    Node* fresh = &room[used++];
    fresh->key = key;
    return fresh;
  }
  if (key < node->key) {
    node->left = insert(node->left, key);
  } else {
    node->right = insert(node->right, key);
  }
  return node;
}

FUNCTION int sum(const Node* node) {
  if (node == nullptr) return 0;
  return sum(node->left) + node->key + sum(node->right);
}

FUNCTION int mix(int n) {
  int value = n;
  for (int i = 0; i < 50; ++i) {
    switch (value & 7) {
      case 0: value += 3; break;
      case 1: value ^= 0x55; break;
      case 2: value *= 5; break;
      case 3: value -= 7; break;
      case 4: value /= 3; break;
      case 5: value = value << 1; break;
      case 6: value = ~value & 0xffff; break;
      default: value >>= 2; break;
    }
  }
  return value;
}

FUNCTION int work(int n) {
  int numbers[16];
  for (int i = 0; i < 16; ++i) numbers[i] = mix(n + i);
  Node* tree = nullptr;
  for (int number : numbers) tree = insert(tree, number);
  return sum(tree) + static_cast<int>(strtol("4096", nullptr, 8));
}

int main() {
  sink = work(3);
  return 0;
}
