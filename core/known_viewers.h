#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/exporter.h"

// The programs that --open knows by name: what they read, what they need, how to get them.
namespace flamb {

struct KnownViewer {
  std::string_view name;
  std::span<const std::string_view> formats;  // by name, the best first; flamb writes them all
  bool is_page = false;                       // shown by a browser, which $BROWSER may make anything
  std::string_view how_to_get;                // what a user who does not have it does
};

// Null for any other program, of which nothing is known.
const KnownViewer* find_known_viewer(std::string_view name);
std::vector<std::string> known_viewer_names();

// What the viewer reads, the best first; never empty.
std::vector<const Exporter*> readable_formats(const KnownViewer& viewer);

bool reads(const KnownViewer& viewer, const Exporter& format);

}  // namespace flamb
