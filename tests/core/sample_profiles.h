#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profile.h"

// Profiles for the exporters' tests: made by hand, the same each time.
namespace flamb {

// A function of the program.
inline Frame own(std::string name) { return {std::move(name), "server", "", 0, false}; }

class ProfileBuilder {
 public:
  explicit ProfileBuilder(Unit unit = Unit::instructions) {
    profile_.trigger = "app::serve(app::Request const&)";
    profile_.parts.front().invocation = 2;
    profile_.parts.front().thread_id = 4711;
    profile_.program = "/usr/local/bin/server";
    profile_.pid = 4700;
    profile_.debugger = "LLDB 19.1.7";
    profile_.collector = "stepping";
    profile_.date = std::chrono::system_clock::from_time_t(1'700'000'000);
    profile_.unit = unit;
  }

  // Those of further calls.
  void next_invocation(std::uint64_t number, std::uint64_t thread) { profile_.parts.push_back({number, thread}); }

  // A call that weighs `self` and makes the calls of `inside`.
  void call(
      const Frame& frame, std::uint64_t self, const std::function<void()>& inside = [] {}) {
    Recording events(profile_.tree, profile_.parts.back().timeline);
    events.enter(frames_->intern(frame));
    events.weigh(self);
    inside();
    events.leave();
  }

  void call(
      const std::string& name, std::uint64_t self, const std::function<void()>& inside = [] {}) {
    call(own(name), self, inside);
  }

  Profile& profile() { return profile_; }

  Profile build() {
    profile_.frames = frames_;
    return profile_;
  }

 private:
  std::shared_ptr<FrameTable> frames_ = std::make_shared<FrameTable>();
  Profile profile_;
};

// Like a real one: templates, recursion, an inlined frame, a library.
inline Profile server_profile() {
  ProfileBuilder to;
  const Frame inlined{"std::vector<char, std::allocator<char> >::push_back(char&&)", "server",
                      "/usr/include/c++/12/bits/stl_vector.h", 1287, true};
  const Frame library{"deflate", "libz.so.1.2.13", "", 0, false};
  const Frame allocate{"malloc", "libc.so.6", "", 0, false};
  const auto parse_value = [&](std::uint64_t self, const std::function<void()>& inside) {
    to.call({"app::json::parse_value(app::json::Cursor&, int)", "server", "/src/json.cpp", 88}, self, inside);
  };
  to.call("app::serve(app::Request const&)", 1200, [&] {
    to.call("app::json::parse(std::basic_string_view<char, std::char_traits<char> >)", 900, [&] {
      parse_value(5200, [&] {
        to.call("app::json::parse_object(app::json::Cursor&, int)", 3100, [&] {
          for (int key = 0; key < 12; ++key) {
            to.call("app::json::parse_string(app::json::Cursor&)", 410,
                    [&] { to.call(inlined, 260, [&] { to.call(allocate, 75); }); });
            parse_value(350, [&] { to.call("app::json::parse_number(app::json::Cursor&)", 640); });
          }
          parse_value(900, [&] {
            to.call("app::json::parse_array(app::json::Cursor&, int)", 2900, [&] { parse_value(1800, [] {}); });
          });
        });
      });
    });
    to.call("std::map<std::string, app::Handler>::find(std::string const&) const", 310, [&] {
      for (int level = 0; level < 9; ++level)
        to.call("std::less<std::string>::operator()(std::string const&, std::string const&) const", 55);
    });
    to.call("app::(anonymous namespace)::handle_query(app::Database&, app::json::Value const&)", 2100, [&] {
      for (int row = 0; row < 40; ++row) {
        to.call("app::Database::next_row(app::Cursor&)", 130,
                [&] { to.call("app::Page::decode(unsigned char const*)", 210); });
        to.call("app::matches(app::Row const&, app::Filter const&)", 95);
      }
      to.call(
          "app::rank(std::vector<app::Row>&)::{lambda(app::Row const&, app::Row const&)#1}::operator()(app::Row "
          "const&, app::Row const&) const",
          2400);
    });
    to.call("app::respond(app::Socket&, app::json::Value const&)", 700, [&] {
      to.call("app::json::write(std::ostream&, app::json::Value const&)", 5400, [&] { to.call(allocate, 900); });
      to.call(library, 9000);
    });
    to.call("app::log(char const*, ...)", 2);
  });
  return to.build();
}

// Each name would break some format that did not look after it.
inline std::vector<std::string> hard_names() {
  return {"two words",
          "semi;colon",
          "less<than & \"more\"> 'quoted'",
          "new\nline\ttab\x01\x7f",
          "größe::数える(π)",
          "bad\xff utf\xc3",
          "overlong\xc0\xaf surrogate\xed\xa0\x80 noncharacter\xef\xbf\xbe",
          "line\u2028separator",
          "count 42",
          "decimal 4.5",
          "12",
          "]]> <![CDATA[ --> </svg>",
          " ",
          "",
          std::string(10'000, 'x')};
}

// One call of each hard name, and each calls a leaf.
inline Profile hard_names_profile() {
  ProfileBuilder to(Unit::calls);
  to.profile().trigger = "a <b> & \"c\"\nd";
  to.profile().incomplete = "the program exited with <status> 3";
  to.call("trigger", 1, [&] {
    for (const std::string& name : hard_names()) to.call(name, 1, [&] { to.call("leaf", 1); });
  });
  return to.build();
}

// A chain, every weight at its end.
inline Profile deep_profile(std::size_t depth, std::uint64_t self_of_each = 0) {
  ProfileBuilder to;
  auto frames = std::make_shared<FrameTable>();
  Profile profile = to.build();
  const FrameId even = frames->intern(own("even(unsigned int)"));
  const FrameId odd = frames->intern(own("odd(unsigned int)"));
  Recording events(profile.tree, profile.parts.front().timeline);
  for (std::size_t level = 0; level < depth; ++level) {
    events.enter(level % 2 == 0 ? even : odd);
    events.weigh(self_of_each);
  }
  events.weigh(7);
  events.finish();
  profile.frames = frames;
  return profile;
}

// `count` distinct stacks: a trigger, `fan` functions below it, as many below each of these, and so on.
inline Profile wide_profile(std::size_t count, std::size_t fan) {
  Profile profile = ProfileBuilder().build();
  auto frames = std::make_shared<FrameTable>();
  std::vector<FrameId> ids;
  for (std::size_t each = 0; each < fan; ++each) {
    ids.push_back(frames->intern(own("ns::function_" + std::to_string(each) + "(int, char const*)")));
  }
  Recording events(profile.tree, profile.parts.front().timeline);
  events.enter(frames->intern(own("trigger")));
  for (std::size_t each = 0; each < count; ++each) {
    std::size_t depth = 0;
    for (std::size_t rest = each + 1; rest > 0; rest /= fan, ++depth) events.enter(ids[rest % fan]);
    events.weigh(each % 97 + 1);
    for (; depth > 0; --depth) events.leave();
  }
  events.finish();
  profile.frames = frames;
  return profile;
}

// Invocations on two threads, merged, each with a function of its own.
inline Profile threads_profile() {
  ProfileBuilder to;
  const auto frames = std::make_shared<FrameTable>();
  Profile profile = to.build();
  profile.frames = frames;
  profile.parts = {{1, 4711, Timeline()}, {2, 4712, Timeline()}, {3, 4711, Timeline()}};
  const FrameId trigger = frames->intern(own("trigger(int)"));
  const FrameId common = frames->intern(own("common()"));
  for (ProfilePart& part : profile.parts) {
    Recording events(profile.tree, part.timeline);
    events.enter(trigger);
    events.weigh(2);
    events.enter(common);
    events.weigh(100 * part.invocation);
    events.leave();
    events.enter(frames->intern(own("only_in_" + std::to_string(part.invocation) + "()")));
    events.weigh(1);
    events.leave();
    events.weigh(30);
    events.finish();
  }
  return profile;
}

// Two invocations in different threads, which share some stacks. Calls of one function follow each other.
inline Profile merged_profile() {
  ProfileBuilder to(Unit::calls);
  to.call("trigger", 1, [&] {
    for (int each = 0; each < 3; ++each) to.call("repeated", 1, [&] { to.call("leaf", 1); });
  });
  to.next_invocation(3, 4712);
  to.call("trigger", 1, [&] {
    to.call("other", 1);
    to.call("repeated", 1);
    to.call("repeated", 1, [&] { to.call("leaf", 1); });
  });
  return to.build();
}

// Calls that weigh nothing, at the begin, at the end and between.
inline Profile weightless_profile() {
  ProfileBuilder to;
  to.call("trigger", 0, [&] {
    to.call("nothing", 0);
    to.call("something", 0, [&] { to.call("leaf", 5); });
    to.call("nothing", 0);
    to.call("something", 3, [&] { to.call("nothing", 0); });
    to.call("nothing", 0, [&] { to.call("nothing", 0); });
  });
  return to.build();
}

// As if the order of its calls had been too long to keep.
inline Profile without_order(Profile profile) {
  for (ProfilePart& part : profile.parts) {
    part.timeline = Timeline(0);
    part.timeline.leave();
  }
  return profile;
}

inline Profile empty_profile() { return ProfileBuilder().build(); }

}  // namespace flamb
