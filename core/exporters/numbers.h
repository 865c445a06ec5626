#pragma once

#include <cstdint>
#include <string>

#include "profile.h"

// Numbers as the exporters show them to people.
namespace flamb {

// With thousands separators: 1,234,567.
std::string grouped(std::uint64_t number);

// With its unit: "1 call", "1,234 instructions".
std::string weight(std::uint64_t number, Unit unit);

// One decimal: "46.2%"; what is too little for that, but not nothing, is "<0.1%". A `whole` of 0 gives "0.0%".
std::string percent(std::uint64_t part, std::uint64_t whole);

}  // namespace flamb
