#include "edit_distance.h"

#include <algorithm>
#include <vector>

namespace flamb {

std::size_t edit_distance(std::string_view from, std::string_view to, std::size_t limit) {
  const std::size_t difference = from.size() > to.size() ? from.size() - to.size() : to.size() - from.size();
  if (difference > limit) return limit + 1;
  std::vector<std::size_t> before_last(to.size() + 1);
  std::vector<std::size_t> last(to.size() + 1);
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t column = 0; column <= to.size(); ++column) row[column] = column;
  for (std::size_t line = 1; line <= from.size(); ++line) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = line;
    for (std::size_t column = 1; column <= to.size(); ++column) {
      const bool is_same = from[line - 1] == to[column - 1];
      row[column] = std::min({last[column] + 1, row[column - 1] + 1, last[column - 1] + (is_same ? 0 : 1)});
      const bool is_swapped =
          line > 1 && column > 1 && from[line - 1] == to[column - 2] && from[line - 2] == to[column - 1];
      if (is_swapped) row[column] = std::min(row[column], before_last[column - 2] + 1);
    }
    if (*std::min_element(row.begin(), row.end()) > limit) return limit + 1;
  }
  return std::min(row.back(), limit + 1);
}

}  // namespace flamb
