#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile.h"

namespace flamb {

// Where an exporter writes.
struct Output {
  std::ostream& stream;
  std::string companion = {};           // path of the file that Exporter::write_companion wrote
  std::vector<std::string> notes = {};  // sentences for the user
};

// One output format. Each has a .cpp of its own beside this header, declared in exporter.cpp's list and nowhere else.
//
// `write` streams the profile: its memory does not grow with the output, it never recurses over the tree, and every
// name (any UTF-8, any length) leaves the format valid and loses no stack. It reports failure only through the stream's
// state; what the format cannot carry of this profile it says in a note.
struct Exporter {
  std::string_view name;
  std::span<const std::string_view> aliases;
  std::string_view extension;    // of the file's name, without the dot
  std::string_view description;  // one line, for the help
  void (*write)(const Profile& profile, Output& output);
  // A second file, which the first one refers to by its path: written before it. Null where the format is one file.
  std::string_view companion_extension = {};
  void (*write_companion)(const Profile& profile, std::ostream& out) = nullptr;
};

// All formats, in the order in which the help lists them.
std::span<const Exporter> exporters();

// By name or alias; null if there is none.
const Exporter* find_exporter(std::string_view name);

// "parse_request, invocation 2 of thread 4711: 1,234 calls" and the like: what every title and header says.
std::string title(const Profile& profile);
std::string subtitle(const Profile& profile);

}  // namespace flamb
