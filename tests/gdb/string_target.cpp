#include <string>

// A function that GDB cannot call with a literal.
__attribute__((noinline)) std::size_t length_of(const std::string& text) { return text.size(); }

int main() {
  const std::string text = "text";
  return length_of(text) == 4 ? 0 : 1;
}
