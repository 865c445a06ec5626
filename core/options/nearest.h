#pragma once

#include <span>
#include <string>
#include <string_view>

namespace flamb {

// What was probably meant: the only candidate that begins with `word`, else the nearest by edits where they are few for
// its length. Empty if none is near.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace flamb
