#include "known_viewers.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace flamb {
namespace {

// A browser shows any text, but what is written for programs is nothing to look at.
constexpr auto of_browser = std::to_array<std::string_view>({"svg", "text"});
constexpr auto of_hotspot = std::to_array<std::string_view>({"perf-data"});
constexpr auto of_speedscope = std::to_array<std::string_view>({"speedscope", "collapsed", "perf-script"});

constexpr auto viewers = std::to_array<KnownViewer>({
    {"browser", of_browser, true, "install one, or set BROWSER to one"},
    {"hotspot", of_hotspot, false, "install it: `apt install hotspot`"},
    {"speedscope", of_speedscope, true, "install it: `npm install -g speedscope`"},
});

}  // namespace

const KnownViewer* find_known_viewer(std::string_view name) {
  const auto found = std::ranges::find(viewers, name, &KnownViewer::name);
  return found != viewers.end() ? &*found : nullptr;
}

std::vector<std::string> known_viewer_names() {
  std::vector<std::string> names;
  std::ranges::transform(viewers, std::back_inserter(names),
                         [](const KnownViewer& each) { return std::string(each.name); });
  return names;
}

std::vector<const Exporter*> readable_formats(const KnownViewer& viewer) {
  std::vector<const Exporter*> formats;
  for (const std::string_view name : viewer.formats) formats.push_back(find_exporter(name));
  return formats;
}

bool reads(const KnownViewer& viewer, const Exporter& format) {
  return std::ranges::find(viewer.formats, format.name) != viewer.formats.end();
}

}  // namespace flamb
