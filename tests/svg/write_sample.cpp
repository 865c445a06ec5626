#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

#include "exporters/exporter.h"
#include "sample_profiles.h"

namespace {

flamb::Profile sample(std::string_view name) {
  if (name == "server") return flamb::server_profile();
  if (name == "hard_names") return flamb::hard_names_profile();
  if (name == "deep") return flamb::deep_profile(100'000, 1);
  if (name == "wide") return flamb::wide_profile(1'000'000, 20);
  return flamb::empty_profile();
}

}  // namespace

// write_sample SAMPLE FORMAT FILE: what the tests in a browser look at.
int main(int count, char** words) {
  if (count != 4 || flamb::find_exporter(words[2]) == nullptr) {
    std::fputs("usage: write_sample server|hard_names|deep|wide|empty FORMAT FILE\n", stderr);
    return 2;
  }
  std::ofstream out(words[3], std::ios::binary);
  flamb::Output output{out};
  flamb::find_exporter(words[2])->write(sample(words[1]), output);
  out.close();
  return out ? 0 : 1;
}
