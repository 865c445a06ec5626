#include "options/nearest.h"

#include <algorithm>
#include <cstddef>

#include "edit_distance.h"

namespace flamb {
std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t longest = 64;  // nothing that long is a slip of the fingers
  if (word.empty() || word.size() > longest) return {};
  const auto begins = [&](const std::string& candidate) { return candidate.starts_with(word); };
  if (std::ranges::count_if(candidates, begins) == 1) return *std::ranges::find_if(candidates, begins);

  std::string best;
  std::size_t fewest = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t count = edit_distance(word, candidate, fewest - 1);
    if (count < fewest) {
      fewest = count;
      best = candidate;
    }
  }
  return best;
}

}  // namespace flamb
