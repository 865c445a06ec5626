#pragma once

#include <cstddef>
#include <string_view>

namespace flamb {

// How many characters to insert, delete, replace or swap with their neighbour to get from one word to the other; more
// than `limit` is not counted on: the result is then limit + 1.
std::size_t edit_distance(std::string_view from, std::string_view to, std::size_t limit);

}  // namespace flamb
