#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/exporter.h"
#include "exporters/frame_name.h"
#include "exporters/numbers.h"
#include "exporters/tree_walk.h"

namespace flamb {
namespace {

constexpr std::size_t line_width = 100;
constexpr std::size_t least_name_width = 30;
constexpr std::size_t tree_lines = 60;
constexpr std::size_t top_lines = 20;
constexpr std::size_t indented_levels = 10;  // deeper, a number says how deep
constexpr std::uint64_t tree_parts = 200;    // what is under one part in so many is left out: 0.5%

// What one line says of a node or a function.
struct Row {
  std::uint64_t total = 0;
  std::uint64_t self = 0;
  std::uint64_t calls = 0;
};

// Lines of numbers in columns that are as wide as they need to be, and a name.
class Table {
 public:
  Table(const Row& largest, std::ostream& out)
      : out_(out),
        total_(column("total", largest.total)),
        self_(column("self", largest.self)),
        calls_(column("calls", largest.calls)),
        whole_(largest.total) {}

  void head(std::string_view share) {
    out_ << fmt::format("{:>7}  {:>{}}  {:>{}}  {:>{}}  function\n", share, "total", total_, "self", self_, "calls",
                        calls_);
  }

  // `share` of the whole goes into the first column.
  void row(std::uint64_t share, const Row& row, const std::string& prefix, const Frame& frame) {
    out_ << fmt::format("{:>7}  {:>{}}  {:>{}}  {:>{}}  {}{}\n", percent(share, whole_), grouped(row.total), total_,
                        grouped(row.self), self_, grouped(row.calls), calls_, prefix, name(frame, columns(prefix)));
  }

  void remark(std::uint64_t share, const std::string& prefix, std::string_view text) {
    const std::size_t skipped = total_ + self_ + calls_ + 4;
    out_ << fmt::format("{:>7}  {:{}}  {}… {}\n", percent(share, whole_), "", skipped, prefix, text);
  }

 private:
  static std::size_t column(std::string_view head, std::uint64_t largest) {
    return std::max(head.size(), grouped(largest).size());
  }

  std::string name(const Frame& frame, std::size_t prefix) const {
    const std::string_view mark = frame.inlined ? " [inlined]" : "";
    const std::size_t taken = 7 + total_ + self_ + calls_ + 8 + prefix + mark.size();
    const std::size_t width = std::max(least_name_width, line_width - std::min(line_width, taken));
    return shorten_middle(clean_name(frame.name), width).append(mark);
  }

  std::ostream& out_;
  std::size_t total_, self_, calls_;  // widths
  std::uint64_t whole_;
};

std::string indent(std::size_t depth) {
  if (depth <= indented_levels) return std::string(depth * 2, ' ');
  return fmt::format("{}[{}] ", std::string(indented_levels * 2, ' '), depth);
}

// The heaviest part of the tree, hot path first.
class TreeSection {
 public:
  TreeSection(const Profile& profile, const std::vector<std::uint64_t>& totals, Table& table)
      : profile_(profile),
        totals_(totals),
        cut_(totals, std::max<std::uint64_t>(1, totals[CallTree::root] / tree_parts), tree_lines),
        table_(table) {}

  void write() {
    table_.head("percent");
    push_children(CallTree::root, 0);
    while (!open_.empty()) {
      const Line line = open_.back();
      open_.pop_back();
      if (line.hidden > 0) {
        table_.remark(line.hidden_total, indent(line.depth), fmt::format("{} more", grouped(line.hidden)));
        continue;
      }
      const CallTree::Node& node = profile_.tree[line.node];
      table_.row(totals_[line.node], {totals_[line.node], node.self, node.calls}, indent(line.depth),
                 (*profile_.frames)[node.frame]);
      push_children(line.node, line.depth + 1);
      ++shown_;
    }
  }

  // Nodes that `write` left out.
  std::size_t left_out() const { return profile_.tree.nodes().size() - 1 - shown_; }
  // None of them weighs more.
  std::uint64_t most_left_out() const { return cut_.least(); }

 private:
  // A node, or the sum of the children of one that are not shown.
  struct Line {
    NodeId node = CallTree::none;
    std::size_t depth = 0;
    std::uint64_t hidden = 0;
    std::uint64_t hidden_total = 0;
  };

  void push_children(NodeId parent, std::size_t depth) {
    Line rest{.depth = depth};
    std::vector<NodeId> shown;
    for (NodeId id = profile_.tree[parent].first_child; id != CallTree::none; id = profile_.tree[id].next_sibling) {
      if (cut_.shows(id)) {
        shown.push_back(id);
      } else {
        ++rest.hidden;
        rest.hidden_total += totals_[id];
      }
    }
    // Little that is left out needs no line of its own: the remark at the end counts it.
    if (rest.hidden_total >= std::max<std::uint64_t>(1, totals_[CallTree::root] / tree_parts)) open_.push_back(rest);
    std::ranges::stable_sort(shown, [this](NodeId a, NodeId b) { return totals_[a] > totals_[b]; });
    for (auto id = shown.rbegin(); id != shown.rend(); ++id) open_.push_back({.node = *id, .depth = depth});
  }

  const Profile& profile_;
  const std::vector<std::uint64_t>& totals_;
  Cut cut_;
  Table& table_;
  std::vector<Line> open_;  // what is still to be written, next last
  std::size_t shown_ = 0;
};

// Per frame, over the whole tree. A function's total counts what runs below several of its calls once.
std::vector<Row> sum_by_frame(const Profile& profile, const std::vector<std::uint64_t>& totals) {
  std::vector<Row> rows(profile.frames->size());
  std::vector<std::uint32_t> open(profile.frames->size());
  const auto enter = [&](NodeId id) {
    const CallTree::Node& node = profile.tree[id];
    Row& row = rows[node.frame];
    row.self += node.self;
    row.calls += node.calls;
    if (open[node.frame]++ == 0) row.total += totals[id];
    return true;
  };
  walk(profile.tree, enter, [&](NodeId id) { --open[profile.tree[id].frame]; });
  return rows;
}

void write_top(const Profile& profile, const std::vector<Row>& rows, Table& table, std::ostream& out) {
  std::vector<FrameId> order;
  std::uint64_t rest = 0;
  for (FrameId id = 0; id < rows.size(); ++id) {
    if (rows[id].self == 0) continue;
    order.push_back(id);
    rest += rows[id].self;
  }
  const std::size_t shown = std::min(order.size(), top_lines);
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(shown), [&](FrameId a, FrameId b) {
    return rows[a].self != rows[b].self ? rows[a].self > rows[b].self : a < b;
  });

  out << "\nTop functions by self, over the whole tree\n\n";
  table.head("self");
  for (std::size_t at = 0; at < shown; ++at) {
    table.row(rows[order[at]].self, rows[order[at]], "", (*profile.frames)[order[at]]);
    rest -= rows[order[at]].self;
  }
  if (shown < order.size()) table.remark(rest, "", fmt::format("{} more functions", grouped(order.size() - shown)));
}

}  // namespace

void write_text(const Profile& profile, Output& output) {
  std::ostream& out = output.stream;
  out << shorten_middle(title(profile), line_width) << '\n' << subtitle(profile) << "\n\n";
  const std::vector<std::uint64_t> totals = profile.tree.totals();
  const std::uint64_t whole = totals[CallTree::root];
  if (whole == 0) {
    out << "Nothing was recorded.\n";
    return;
  }
  const std::vector<Row> rows = sum_by_frame(profile, totals);
  Row largest{.total = whole};
  for (const Row& row : rows) {
    largest.self = std::max(largest.self, row.self);
    largest.calls = std::max(largest.calls, row.calls);
  }
  Table table(largest, out);
  TreeSection tree(profile, totals, table);
  tree.write();
  if (tree.left_out() > 0) {
    out << fmt::format("\nLeft out: {} of {} or less.\n",
                       tree.left_out() == 1 ? "1 stack" : grouped(tree.left_out()) + " stacks",
                       weight(tree.most_left_out(), profile.unit));
  }
  write_top(profile, rows, table, out);
}

}  // namespace flamb
