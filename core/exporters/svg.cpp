#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <string>
#include <string_view>

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
      out << fmt::format(".h{} rect{{fill:{}}}.l{} rect{{fill:{}}}\n", index,
                         hex({8 + 44.0 * hue / (hues - 1), 0.88 - darker, lightness}), index,
                         hex({150 + 60.0 * hue / (hues - 1), 0.38, lightness + 0.04}));
    }
  }
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_library(const Profile& profile, const Frame& frame) {
  return !frame.module.empty() && !profile.program.empty() && file_name(frame.module) != file_name(profile.program);
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
    out_ << "}\n" << svg_style << "]]></style>\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n";
    write_head();
    out_ << fmt::format("<g id=\"graph\" data-rows=\"{}\" transform=\"translate({} {})\">\n", layout_.rows, pad,
                        head_height);
    for (const Box& box : layout_.boxes) write_box(box);
    out_ << "</g>\n<script><![CDATA[\n" << svg_script << "]]></script>\n</svg>\n";
  }

 private:
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
    return std::ranges::any_of(layout_.boxes, [&](const Box& box) {
      if (box.node == CallTree::none || box.node == CallTree::root) return false;
      return predicate(profile_, (*profile_.frames)[profile_.tree[box.node].frame]);
    });
  }

  void write_box(const Box& box) {
    if (box.node == CallTree::none) {
      const std::string name = box.thin == 1 ? "… 1 thin frame" : fmt::format("… {} thin frames", grouped(box.thin));
      write_shape(box, "thin", name, name + "\n" + total_of(box));
    } else if (box.node == CallTree::root) {
      write_shape(box, "h0", "all", "all\n" + total_of(box));
    } else {
      write_frame(box);
    }
  }

  void write_frame(const Box& box) {
    const CallTree::Node& node = profile_.tree[box.node];
    const Frame& frame = (*profile_.frames)[node.frame];
    const std::string name = clean_name(frame.name);
    std::string text = fmt::format("{}\n{}, self {} ({}), {}", name, total_of(box), grouped(node.self),
                                   percent(node.self, layout_.total), weight(node.calls, Unit::calls));
    const std::string place = place_of(frame);
    if (!place.empty()) text.append("\n").append(place);
    const bool is_library =
        !frame.module.empty() && !profile_.program.empty() && file_name(frame.module) != file_name(profile_.program);
    std::string classes = fmt::format("{}{}", is_library ? 'l' : 'h', hash(name) % (hues * shades));
    if (frame.inlined) classes += " inlined";
    write_shape(box, classes, name, text);
  }

  std::string total_of(const Box& box) const {
    return fmt::format("{} ({})", weight(box.total, profile_.unit), percent(box.total, layout_.total));
  }

  std::string place_of(const Frame& frame) const {
    std::string place = frame.inlined ? "inlined" : "";
    const auto add = [&place](const std::string& part) { place.append(place.empty() ? "" : ", ").append(part); };
    if (!frame.module.empty()) add(clean_name(frame.module));
    if (!frame.file.empty()) add(fmt::format("{}:{}", clean_name(file_name(frame.file)), frame.line));
    return place;
  }

  void write_shape(const Box& box, std::string_view classes, std::string_view name, const std::string& text) {
    const double scale = static_cast<double>(graph_width) / static_cast<double>(layout_.total);
    const double x = static_cast<double>(box.begin) * scale;
    const double width = static_cast<double>(box.total) * scale;
    const std::uint64_t y = std::uint64_t{layout_.rows - 1 - box.depth} * row_height;
    out_ << fmt::format("<g class=\"{}\" data-v=\"{} {} {}", classes, box.begin, box.total, box.depth);
    if (const NameParts split = split_name(name); split.bare > 0 || split.parameters < name.size()) {
      out_ << fmt::format(" {} {}", utf16_length(name.substr(0, split.bare)),
                          utf16_length(name.substr(0, split.parameters)));
    }
    out_ << fmt::format("\"><title>{}</title><rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" rx=\"1.5\"/>",
                        escaped(text), x, y, width > 2 ? width - 0.7 : width, row_height - 1);
    const std::string shown = label(name, static_cast<std::size_t>(std::max(0.0, (width - 6) / letter_width)));
    if (!shown.empty()) {
      out_ << fmt::format("<text x=\"{:.1f}\" y=\"{}.5\">{}</text>", x + 3, y + 12, escaped(shown));
    }
    out_ << "</g>\n";
  }

  const Profile& profile_;
  const Layout& layout_;
  std::ostream& out_;
};

}  // namespace

void write_svg(const Profile& profile, Output& output) {
  SvgWriter(profile, lay_out(profile.tree, parts, most_boxes), output.stream).write();
}

}  // namespace flamb
