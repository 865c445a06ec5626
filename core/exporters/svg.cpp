#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/exporter.h"
#include "exporters/frame_name.h"
#include "exporters/numbers.h"
#include "exporters/svg_layout.h"
#include "svg_assets.h"

namespace flamb {
namespace {

// The image as it is before the script fits it to the window.
constexpr int image_width = 1200;
constexpr int pad = 10;
constexpr int row_height = 18;
constexpr int head_height = 72;
constexpr int graph_width = image_width - 2 * pad;
constexpr double letter_width = 7.23;  // of the 12 px fixed-width font

constexpr std::uint64_t parts = 10'000;     // what is under one part in so many gets no box: 0.01%
constexpr std::size_t most_boxes = 20'000;  // a browser opens so many in a second

constexpr unsigned hues = 16;
constexpr unsigned shades = 4;

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char each : text) {
    switch (each) {
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '&': result += "&amp;"; break;
      case '"': result += "&quot;"; break;
      default: result += each;
    }
  }
  return result;
}

// A string of JSON inside CDATA, which must not end early. A clean name has no control characters.
std::string json(std::string_view clean) {
  std::string result = "\"";
  for (const char each : clean) {
    switch (each) {
      case '"': result += "\\\""; break;
      case '\\': result += "\\\\"; break;
      case '>': result += "\\u003e"; break;
      default: result += each;
    }
  }
  return result + '"';
}

// JavaScript counts a string in UTF-16.
std::size_t utf16_length(std::string_view text) {
  std::size_t length = 0;
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    length += (byte & 0xC0) != 0x80 ? 1 : 0;
    length += byte >= 0xF0 ? 1 : 0;
  }
  return length;
}

// FNV-1a: every character counts, so that neighbours in one namespace differ.
std::uint64_t hash(std::string_view name) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char each : name) value = (value ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  return value ^ (value >> 32);
}

struct Colour {
  double hue, saturation, lightness;  // degrees, and two shares of 1
};

std::string hex(const Colour& colour) {
  const auto channel = [&colour](double offset) {
    const double k = static_cast<double>(static_cast<int>(offset + colour.hue / 30) % 12) +
                     (colour.hue / 30 - static_cast<int>(colour.hue / 30));
    const double a = colour.saturation * std::min(colour.lightness, 1 - colour.lightness);
    return std::lround(255 * (colour.lightness - a * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}))));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(0), channel(8), channel(4));
}

// One class a colour, so that the dark scheme can have its own: h for the program's functions (hot), l for those of
// libraries.
void write_palette(std::ostream& out, double darker) {
  for (unsigned hue = 0; hue < hues; ++hue) {
    for (unsigned shade = 0; shade < shades; ++shade) {
      const unsigned index = hue * shades + shade;
      const double lightness = 0.60 + 0.035 * shade - darker;
      out << fmt::format(".h{}{{fill:{}}}.l{}{{fill:{}}}\n", index,
                         hex({8 + 44.0 * hue / (hues - 1), 0.88 - darker, lightness}), index,
                         hex({150 + 60.0 * hue / (hues - 1), 0.38, lightness + 0.04}));
    }
  }
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_library(const Profile& profile, const Frame& frame) {
  return !frame.module.empty() && !profile.program.empty() && file_name(frame.module) != file_name(profile.program);
}

// A box of the image, in pixels.
struct Shape {
  double x = 0;
  std::uint64_t y = 0;
  double width = 0;
};

// Part of a path, its corners round where there is room. svg.js draws the same.
void write_outline(std::ostream& out, const Shape& shape) {
  constexpr int height = row_height - 1;
  const double width = shape.width > 2 ? shape.width - 0.7 : shape.width;
  if (width < 4) {
    out << fmt::format("M{:.2f} {}h{:.2f}v{}h-{:.2f}z", shape.x, shape.y, width, height, width);
  } else {
    out << fmt::format("M{0:.2f} {1}.5q0-1.5 1.5-1.5h{2:.2f}q1.5 0 1.5 1.5v{3}q0 1.5-1.5 1.5h-{2:.2f}q-1.5 0-1.5-1.5z",
                       shape.x, shape.y + 1, width - 3, height - 3);
  }
}

class SvgWriter {
 public:
  SvgWriter(const Profile& profile, const Layout& layout, std::ostream& out)
      : profile_(profile), layout_(layout), out_(out) {}

  void write() {
    const int height = head_height + static_cast<int>(layout_.rows) * row_height + pad;
    out_ << fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\">\n"
        "<title>{2}</title>\n<style><![CDATA[\n",
        image_width, height, escaped(title(profile_)));
    write_palette(out_, 0);
    out_ << "@media (prefers-color-scheme: dark) {\n";
    write_palette(out_, 0.08);
    out_ << "}\n" << svg_style << "]]></style>\n" << hide_picture;
    out_ << "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n";
    write_head();
    write_picture();
    write_data();
    out_ << "<script><![CDATA[\n\"use strict\";\n{\n" << svg_frames << svg_script << "}\n]]></script>\n</svg>\n";
  }

 private:
  // Where scripts run, ours draws the graph: the picture need not be laid out before. Should ours fail, it stays.
  static constexpr std::string_view hide_picture =
      "<script><![CDATA[document.documentElement.classList.add(\"scripted\");\n"
      "addEventListener(\"error\", () => document.documentElement.classList.remove(\"scripted\"));]]></script>\n";

  void write_head() {
    out_ << "<g id=\"head\">\n";
    write_line("title", 28, title(profile_), 115);
    write_line(profile_.incomplete.empty() ? "note" : "note warning", 46, subtitle(profile_), 185);
    write_line("note", 63, remark(), 185);
    out_ << "</g>\n";
  }

  void write_line(std::string_view classes, int y, const std::string& text, std::size_t width) {
    const std::string shown = shorten_middle(text, width);
    out_ << fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}", classes, pad, y, escaped(shown));
    if (shown != text) out_ << "<title>" << escaped(text) << "</title>";
    out_ << "</text>\n";
  }

  std::string remark() const {
    if (layout_.boxes.empty()) return "Nothing was recorded.";
    std::string text = fmt::format("Width: {}. Siblings in order of their first call.", unit_name(profile_.unit));
    if (has_frame(is_library)) text += " Blue: libraries.";
    if (has_frame([](const Profile&, const Frame& frame) { return frame.inlined; })) text += " Dashed: inlined.";
    if (layout_.hidden > 0) {
      text += fmt::format(" Not drawn, and not searched: {} of {} or less, {} in all ({}){}.",
                          layout_.hidden == 1 ? "1 stack" : grouped(layout_.hidden) + " stacks",
                          weight(layout_.least, profile_.unit), grouped(layout_.hidden_self),
                          percent(layout_.hidden_self, layout_.total), has_thin() ? ", in grey" : "");
    }
    return text;
  }

  bool has_thin() const {
    return std::ranges::any_of(layout_.boxes, [](const Box& box) { return box.thin > 0; });
  }

  template <class Predicate>
  bool has_frame(Predicate predicate) const {
    return std::ranges::any_of(layout_.boxes,
                               [&](const Box& box) { return is_call(box) && predicate(profile_, frame_of(box)); });
  }

  static bool is_call(const Box& box) { return box.node != CallTree::none && box.node != CallTree::root; }

  const Frame& frame_of(const Box& box) const { return (*profile_.frames)[profile_.tree[box.node].frame]; }

  std::string name_of(const Box& box) const {
    if (box.node == CallTree::none) return box.thin == 1 ? "… 1 thin frame" : "… " + grouped(box.thin) + " thin frames";
    return box.node == CallTree::root ? "all" : clean_name(frame_of(box).name);
  }

  std::string classes_of(const Box& box) const {
    if (!is_call(box)) return box.node == CallTree::root ? "h0" : "thin";
    const Frame& frame = frame_of(box);
    return fmt::format("{}{}{}", is_library(profile_, frame) ? 'l' : 'h',
                       hash(clean_name(frame.name)) % (hues * shades), frame.inlined ? " inlined" : "");
  }

  Shape shape_of(const Box& box) const {
    const double scale = static_cast<double>(graph_width) / static_cast<double>(layout_.total);
    return {static_cast<double>(box.begin) * scale, std::uint64_t{layout_.rows - 1 - box.depth} * row_height,
            static_cast<double>(box.total) * scale};
  }

  // What viewers show that run no scripts. One path a colour: a browser takes a path of thousands of boxes in a
  // fraction of the time that an element for each would cost.
  void write_picture() {
    std::map<std::string, std::vector<const Box*>> boxes_by_classes;
    for (const Box& box : layout_.boxes) boxes_by_classes[classes_of(box)].push_back(&box);
    out_ << fmt::format("<svg id=\"picture\" x=\"{}\" y=\"{}\" overflow=\"visible\">\n", pad, head_height);
    for (const auto& [classes, boxes] : boxes_by_classes) {
      out_ << fmt::format("<path class=\"{}\" d=\"", classes);
      for (const Box* box : boxes) write_outline(out_, shape_of(*box));
      out_ << "\"/>\n";
    }
    for (const Box& box : layout_.boxes) write_label(box);
    out_ << "\n</svg>\n";
  }

  // The line ends inside the tag: between tags it would be a node of its own.
  void write_label(const Box& box) {
    const Shape shape = shape_of(box);
    const auto letters = static_cast<std::size_t>(std::max(0.0, (shape.width - 6) / letter_width));
    const std::string shown = label(name_of(box), letters);
    if (shown.empty()) return;
    out_ << fmt::format("<text{} x=\"{:.1f}\" y=\"{}.5\">{}</text\n>", box.thin > 0 ? " class=\"thin\"" : "",
                        shape.x + 3, shape.y + 12, escaped(shown));
  }

  // What the script draws and tells, as JSON: every function once, and of a box only what does not follow from those
  // before it.
  void write_data() {
    out_ << fmt::format("<script id=\"data\" type=\"application/json\"><![CDATA[\n{{\"unit\": {},\n\"functions\": [",
                        json(unit_name(profile_.unit)));
    const std::vector<std::size_t> numbers = write_functions();
    out_ << "],\n\"frames\": [";
    for (const Box& box : layout_.boxes) {
      if (&box != layout_.boxes.data()) out_ << ',';
      write_frame(box, numbers);
    }
    out_ << "]}\n]]></script>\n";
  }

  // Gives their numbers by id; the one after the last is that of "all".
  std::vector<std::size_t> write_functions() {
    std::vector<std::size_t> numbers(profile_.frames->size() + 1, unnumbered);
    std::size_t next = 0;
    for (const Box& box : layout_.boxes) {
      if (box.node == CallTree::none) continue;
      std::size_t& number = numbers[is_call(box) ? profile_.tree[box.node].frame : profile_.frames->size()];
      if (number != unnumbered) continue;
      out_ << (next == 0 ? "\n" : ",\n");
      number = next++;
      write_function(box);
    }
    return numbers;
  }

  // [name, classes, place, where the bare name begins, where its parameters begin]
  void write_function(const Box& box) {
    const std::string name = name_of(box);
    out_ << fmt::format("[{},{},{}", json(name), json(classes_of(box)),
                        json(is_call(box) ? place_of(frame_of(box)) : ""));
    if (const NameParts split = split_name(name); split.bare > 0 || split.parameters < name.size()) {
      out_ << fmt::format(",{},{}", utf16_length(std::string_view(name).substr(0, split.bare)),
                          utf16_length(std::string_view(name).substr(0, split.parameters)));
    }
    out_ << ']';
  }

  // [function, depth, total, self, calls], for all [function, depth, total], for thin frames [-1, depth, total, number]
  void write_frame(const Box& box, const std::vector<std::size_t>& numbers) {
    if (box.node == CallTree::none) {
      out_ << fmt::format("\n[-1,{},{},{}]", box.depth, box.total, box.thin);
    } else if (box.node == CallTree::root) {
      out_ << fmt::format("\n[{},{},{}]", numbers.back(), box.depth, box.total);
    } else {
      const CallTree::Node& node = profile_.tree[box.node];
      out_ << fmt::format("\n[{},{},{},{},{}]", numbers[node.frame], box.depth, box.total, node.self, node.calls);
    }
  }

  static std::string place_of(const Frame& frame) {
    std::string place = frame.inlined ? "inlined" : "";
    const auto add = [&place](const std::string& part) { place.append(place.empty() ? "" : ", ").append(part); };
    if (!frame.module.empty()) add(clean_name(frame.module));
    if (!frame.file.empty()) add(fmt::format("{}:{}", clean_name(file_name(frame.file)), frame.line));
    return place;
  }

  static constexpr std::size_t unnumbered = std::numeric_limits<std::size_t>::max();

  const Profile& profile_;
  const Layout& layout_;
  std::ostream& out_;
};

}  // namespace

void write_svg(const Profile& profile, Output& output) {
  SvgWriter(profile, lay_out(profile.tree, parts, most_boxes), output.stream).write();
}

}  // namespace flamb
