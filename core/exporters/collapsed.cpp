#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "exporters/exporter.h"
#include "exporters/frame_name.h"
#include "exporters/tree_walk.h"

namespace flamb {
namespace {

constexpr std::uint64_t large = 1'000'000'000;  // bytes: worth telling the user about

bool is_digit(char each) { return each >= '0' && each <= '9'; }

// flamegraph.pl and inferno read a number before the count as a second count. Every frame is changed, not only leaves:
// one function keeps one name.
void hide_number_at_end(std::string& stack, std::size_t begin) {
  std::size_t at = stack.size();
  while (at > begin && is_digit(stack[at - 1])) --at;
  if (at > begin && stack[at - 1] == '.') {
    --at;
    while (at > begin && is_digit(stack[at - 1])) --at;
  }
  const bool is_number = at < stack.size() && is_digit(stack[at]);
  if (is_number && at > begin && stack[at - 1] == ' ') stack[at - 1] = '_';
}

void append_frame(std::string& stack, const Frame& frame) {
  const std::size_t begin = stack.size();
  append_clean_name(stack, frame.name);
  std::replace(stack.begin() + static_cast<std::ptrdiff_t>(begin), stack.end(), ';', ':');
  if (frame.inlined) {
    stack += "_[i]";
  } else {
    hide_number_at_end(stack, begin);
  }
}

}  // namespace

void write_collapsed(const Profile& profile, Output& output) {
  const CallTree& tree = profile.tree;
  std::string line;                // the stack of the node that is visited, and for a moment its count
  std::vector<std::size_t> sizes;  // of the line before each open frame was added
  std::uint64_t written = 0;

  const auto enter = [&](NodeId id) {
    sizes.push_back(line.size());
    if (!line.empty()) line += ';';
    append_frame(line, (*profile.frames)[tree[id].frame]);
    if (const std::uint64_t self = tree[id].self; self > 0) {
      const std::size_t stack = line.size();
      line.append(1, ' ').append(std::to_string(self)).append(1, '\n');
      output.stream.write(line.data(), static_cast<std::streamsize>(line.size()));
      written += line.size();
      line.resize(stack);
    }
    return true;
  };
  walk(tree, enter, [&](NodeId) {
    line.resize(sizes.back());
    sizes.pop_back();
  });
  if (written > large) {
    output.notes.push_back(
        fmt::format("the collapsed stacks take {:.1f} GB, since each line is a whole stack: --collapse-recursion, "
                    "--max-depth or another format keeps deep recursion small",
                    static_cast<double>(written) / 1e9));
  }
}

}  // namespace flamb
