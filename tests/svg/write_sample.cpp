#include <cstdio>
#include <filesystem>
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
  if (name == "chain") return flamb::deep_profile(100'000);
  if (name == "threads") return flamb::threads_profile();
  if (name == "many") return flamb::wide_profile(50'000, 20);
  if (name == "wide") return flamb::wide_profile(1'000'000, 20);
  return flamb::empty_profile();
}

}  // namespace

// write_sample SAMPLE FORMAT FILE [COMPANION]: what the tests with a format's readers look at.
int main(int count, char** words) {
  const flamb::Exporter* const format = count >= 4 ? flamb::find_exporter(words[2]) : nullptr;
  if (format == nullptr || count != (format->write_companion == nullptr ? 4 : 5)) {
    std::fputs("usage: write_sample server|hard_names|threads|deep|chain|many|wide|empty FORMAT FILE [COMPANION]\n",
               stderr);
    return 2;
  }
  const flamb::Profile profile = sample(words[1]);
  std::ofstream out(words[3], std::ios::binary);
  flamb::Output output{out};
  if (format->write_companion != nullptr) {
    std::ofstream companion(words[4], std::ios::binary);
    format->write_companion(profile, companion);
    companion.close();
    if (!companion) return 1;
    output.companion = std::filesystem::absolute(words[4]);
  }
  format->write(profile, output);
  out.close();
  for (const std::string& note : output.notes) std::puts(note.c_str());
  return out ? 0 : 1;
}
