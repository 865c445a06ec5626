// What the exporters are made of: names, numbers, the cut and the layout.
#include <gtest/gtest.h>

#include "exporters/frame_name.h"
#include "exporters/numbers.h"
#include "exporters/svg_layout.h"
#include "exporters/tree_walk.h"
#include "sample_profiles.h"

namespace flamb {
namespace {

TEST(Numbers, AreGrouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
  EXPECT_EQ(weight(1, Unit::instructions), "1 instruction");
  EXPECT_EQ(weight(0, Unit::calls), "0 calls");
}

TEST(Numbers, ShowSharesWithOneDecimal) {
  EXPECT_EQ(percent(462, 1000), "46.2%");
  EXPECT_EQ(percent(1, 10'000), "<0.1%");
  EXPECT_EQ(percent(0, 10), "0.0%");
  EXPECT_EQ(percent(5, 0), "0.0%");
}

TEST(FrameName, IsCleaned) {
  EXPECT_EQ(clean_name("plain name"), "plain name");
  EXPECT_EQ(clean_name("a\nb\x7f"), "a b ");
  EXPECT_EQ(clean_name("a\u0085b\u2028c"), "a b c");
  EXPECT_EQ(clean_name("größe\U0001F525"), "größe\U0001F525");
  EXPECT_EQ(clean_name("\xff\xc3"), "\uFFFD\uFFFD");
  EXPECT_EQ(clean_name("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(clean_name("\xef\xbf\xbf"), "\uFFFD");
  EXPECT_EQ(clean_name(std::string_view("a\0b", 3)), "a b");
  EXPECT_EQ(clean_name(" \n"), "[unknown]");
  EXPECT_EQ(clean_name(""), "[unknown]");
}

struct Split {
  const char* name;
  const char* bare;
  const char* parameters;
};

TEST(FrameName, IsSplit) {
  for (const Split& each : std::initializer_list<Split>{
           {"main", "main", ""},
           {"ns::Type<int (*)(long)>::call<a::b>(int) const", "call<a::b>", "(int) const"},
           {"ns::(anonymous namespace)::f(int)", "f", "(int)"},
           {"(anonymous namespace)::f()", "f", "()"},
           {"a::operator<<(std::ostream&, a::T const&)", "operator<<", "(std::ostream&, a::T const&)"},
           {"a::T::operator()(int)", "T::operator()", "(int)"},
           {"a::f(int)::{lambda(int)#1}::operator()(int) const", "{lambda(int)#1}::operator()", "(int) const"},
           {"a::T::operator bool() const", "operator bool", "() const"},
           {"a::f<(a::E)1>(int) [clone .part.0]", "f<(a::E)1>", "(int) [clone .part.0]"},
           {"libz.so+0x1234", "libz.so+0x1234", ""},
       }) {
    const std::string_view name = each.name;
    const NameParts parts = split_name(name);
    EXPECT_EQ(name.substr(parts.bare, parts.parameters - parts.bare), each.bare) << name;
    EXPECT_EQ(name.substr(parts.parameters), each.parameters) << name;
  }
}

TEST(FrameName, IsShortened) {
  EXPECT_EQ(shorten_middle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shorten_middle("abcdefghij", 5), "ab…ij");
  EXPECT_EQ(shorten_end("abcdefghij", 5), "abcd…");
  EXPECT_EQ(shorten_middle("数える関数", 5), "数…数");
  EXPECT_EQ(shorten_end("数える", 4), "数…");
  EXPECT_EQ(columns("数える"), 6u);
  EXPECT_EQ(shorten_end("abc", 0), "");
}

TEST(FrameName, HasALabelForEveryWidth) {
  const std::string_view name = "ns::parse(int)";
  EXPECT_EQ(label(name, 14), "ns::parse(int)");
  EXPECT_EQ(label(name, 13), "ns::parse");
  EXPECT_EQ(label(name, 8), "parse");
  EXPECT_EQ(label(name, 4), "par…");
  EXPECT_EQ(label(name, 2), "");
}

TEST(Cut, KeepsTheHeaviestAndAmongEqualsTheFirst) {
  CallTree tree;
  for (const std::uint64_t weight : {5u, 9u, 5u, 5u, 1u}) {
    tree.enter(static_cast<FrameId>(tree.nodes().size()));
    tree.weigh(weight);
    tree.leave();
  }
  const std::vector<std::uint64_t> totals = tree.totals();
  const auto shown = [&](const Cut& cut) {
    std::vector<NodeId> ids;
    for (NodeId id = 1; id < totals.size(); ++id) {
      if (cut.shows(id)) ids.push_back(id);
    }
    return ids;
  };
  EXPECT_EQ(shown(Cut(totals, 1, 5)), (std::vector<NodeId>{1, 2, 3, 4, 5}));
  EXPECT_EQ(shown(Cut(totals, 2, 5)), (std::vector<NodeId>{1, 2, 3, 4}));
  EXPECT_EQ(shown(Cut(totals, 1, 3)), (std::vector<NodeId>{1, 2, 3}));
  EXPECT_EQ(shown(Cut(totals, 1, 1)), (std::vector<NodeId>{2}));
  EXPECT_EQ(shown(Cut(totals, 1, 0)), (std::vector<NodeId>{}));
}

TEST(Layout, PlacesChildrenFromTheLeftAndSumsThinOnes) {
  ProfileBuilder to;
  to.call("trigger", 100, [&] {
    to.call("a", 400, [&] { to.call("b", 300); });
    for (int each = 0; each < 50; ++each) to.call("thin_" + std::to_string(each), 1);
    to.call("c", 150);
  });
  const Layout layout = lay_out(to.build().tree, 100, 100);
  ASSERT_EQ(layout.boxes.size(), 5u);
  EXPECT_EQ(layout.total, 1000u);
  EXPECT_EQ(layout.rows, 3u);
  EXPECT_EQ(layout.hidden, 50u);
  EXPECT_EQ(layout.hidden_self, 50u);
  const Box& c = layout.boxes[3];
  EXPECT_EQ(c.begin, 700u);
  EXPECT_EQ(c.depth, 1u);
  const Box& thin = layout.boxes[4];
  EXPECT_EQ(thin.node, CallTree::none);
  EXPECT_EQ(thin.begin, 850u);
  EXPECT_EQ(thin.total, 50u);
  EXPECT_EQ(thin.thin, 50u);
}

TEST(Layout, StaysUnderItsLimit) {
  for (const std::size_t fan : {2u, 10u, 1000u}) {
    const Profile profile = wide_profile(20'000, fan);
    const Layout layout = lay_out(profile.tree, 1'000'000, 5'000);
    EXPECT_LE(layout.boxes.size(), 5'000u) << fan;
    EXPECT_GT(layout.boxes.size(), 1'500u) << fan;
  }
}

}  // namespace
}  // namespace flamb
