#include "exporters/numbers.h"

#include <fmt/format.h>

namespace flamb {

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string weight(std::uint64_t number, Unit unit) {
  std::string_view name = unit_name(unit);
  if (number == 1) name.remove_suffix(1);
  return fmt::format("{} {}", grouped(number), name);
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "0.0%";
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return part > 0 && share < 0.05 ? "<0.1%" : fmt::format("{:.1f}%", share);
}

}  // namespace flamb
