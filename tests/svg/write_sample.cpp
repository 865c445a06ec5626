#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "exporters/exporter.h"
#include "sample_profiles.h"

namespace {

using flamb::Profile;

const std::map<std::string, Profile (*)()> samples = {
    {"server", flamb::server_profile},
    {"server_without_order", [] { return without_order(flamb::server_profile()); }},
    {"hard_names", flamb::hard_names_profile},
    {"merged", flamb::merged_profile},
    {"merged_without_order", [] { return without_order(flamb::merged_profile()); }},
    {"weightless", flamb::weightless_profile},
    {"threads", flamb::threads_profile},
    {"empty", flamb::empty_profile},
    {"deep", [] { return flamb::deep_profile(100'000, 1); }},
    {"chain", [] { return flamb::deep_profile(100'000); }},
    {"deep_3000", [] { return flamb::deep_profile(3'000); }},
    {"wide", [] { return flamb::wide_profile(1'000'000, 20); }},
    {"many", [] { return flamb::wide_profile(50'000, 20); }},
    {"wide_20000", [] { return flamb::wide_profile(20'000, 300); }},
};

}  // namespace

// write_sample SAMPLE FORMAT FILE [COMPANION]: what the tests with a format's readers look at.
int main(int count, char** words) {
  const flamb::Exporter* const format = count >= 4 ? flamb::find_exporter(words[2]) : nullptr;
  if (format == nullptr || !samples.contains(words[1]) || count != (format->write_companion == nullptr ? 4 : 5)) {
    std::fputs("usage: write_sample SAMPLE FORMAT FILE [COMPANION]; the samples are:\n", stderr);
    for (const auto& [name, make] : samples) std::fprintf(stderr, "%s\n", name.c_str());
    return 2;
  }
  const Profile profile = samples.at(words[1])();
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
