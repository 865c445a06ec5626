// speedscope's own format: https://www.speedscope.app/file-format-schema.json
#include <fmt/format.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <array>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/event_order.h"
#include "exporters/exporter.h"
#include "exporters/frame_name.h"
#include "exporters/numbers.h"
#include "exporters/tree_walk.h"

namespace flamb {
namespace {

// What RapidJSON writes to, which gives it single characters: a stream by itself takes twice as long for them.
class Buffer {
 public:
  using Ch = char;

  explicit Buffer(std::ostream& to) : to_(to) {}

  void Put(char each) {
    if (size_ == characters_.size()) Flush();
    characters_[size_++] = each;
  }
  void Flush() {
    to_.write(characters_.data(), static_cast<std::streamsize>(size_));
    size_ = 0;
  }

 private:
  std::ostream& to_;
  std::size_t size_ = 0;
  std::array<char, 65536> characters_;
};

using Json = rapidjson::Writer<Buffer>;
using FrameNumber = std::uint32_t;  // place in the file's list of frames

void put(Json& json, std::string_view key, std::string_view text) {
  json.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void put(Json& json, std::string_view key, std::uint64_t number) {
  json.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
  json.Uint64(number);
}

void write_frame(Json& json, const Frame& frame) {
  json.StartObject();
  put(json, "name", marked_name(frame));
  // As speedscope does for the output of perf: it shows the file, and colours frames of one file alike.
  if (const std::string& file = frame.file.empty() ? frame.module : frame.file; !file.empty()) {
    put(json, "file", clean_name(file));
  }
  if (frame.line != 0) put(json, "line", std::uint64_t{frame.line});
  json.EndObject();
}

// Those of the tree. Gives their numbers by id.
std::vector<FrameNumber> write_frames(Json& json, const Profile& profile) {
  constexpr FrameNumber unused = std::numeric_limits<FrameNumber>::max();
  std::vector<FrameNumber> numbers(profile.frames->size(), unused);
  FrameNumber next = 0;
  json.Key("shared");
  json.StartObject();
  json.Key("frames");
  json.StartArray();
  for (NodeId id = CallTree::root + 1; id < profile.tree.nodes().size(); ++id) {
    const FrameId frame = profile.tree[id].frame;
    if (numbers[frame] != unused) continue;
    numbers[frame] = next++;
    write_frame(json, (*profile.frames)[frame]);
  }
  json.EndArray();
  json.EndObject();
  return numbers;
}

// speedscope knows units of time and memory only; the profile's name has the word.
void begin_profile(Json& json, std::string_view type, std::string_view name, Unit unit, std::uint64_t weight) {
  json.StartObject();
  put(json, "type", type);
  put(json, "name", name);
  put(json, "unit", unit == Unit::nanoseconds ? "nanoseconds" : "none");
  put(json, "startValue", std::uint64_t{0});
  put(json, "endValue", weight);
}

std::uint64_t total(const Timeline& timeline) {
  std::uint64_t sum = 0;
  timeline.replay([](NodeId) {}, [] {}, [&sum](std::uint64_t weight) { sum += weight; });
  return sum;
}

// Calls in their order: what they weighed before is where each begins and ends.
void write_events(Json& json, const CallTree& tree, const Timeline& timeline, const std::vector<FrameNumber>& numbers) {
  std::uint64_t at = 0;
  std::vector<FrameNumber> open;
  const auto event = [&](std::string_view type, FrameNumber frame) {
    json.StartObject();
    put(json, "type", type);
    put(json, "frame", std::uint64_t{frame});
    put(json, "at", at);
    json.EndObject();
  };
  json.Key("events");
  json.StartArray();
  timeline.replay(
      [&](NodeId node) {
        open.push_back(numbers[tree[node].frame]);
        event("O", open.back());
      },
      [&] {
        event("C", open.back());
        open.pop_back();
      },
      [&](std::uint64_t weight) { at += weight; });
  json.EndArray();
}

// Each stack once, by its own weight.
void write_samples(Json& json, const CallTree& tree, const std::vector<FrameNumber>& numbers) {
  std::vector<FrameNumber> stack;
  const auto enter = [&](NodeId id) {
    stack.push_back(numbers[tree[id].frame]);
    if (tree[id].self == 0) return true;
    json.StartArray();
    for (const FrameNumber frame : stack) json.Uint(frame);
    json.EndArray();
    return true;
  };
  json.Key("samples");
  json.StartArray();
  walk(tree, enter, [&](NodeId) { stack.pop_back(); });
  json.EndArray();

  json.Key("weights");
  json.StartArray();
  const auto weigh = [&](NodeId id) {
    if (tree[id].self > 0) json.Uint64(tree[id].self);
    return true;
  };
  walk(tree, weigh, [](NodeId) {});
  json.EndArray();
}

std::string mark_incomplete(std::string name, const Profile& profile) {
  if (!profile.incomplete.empty()) name += fmt::format(" (incomplete: {})", clean_name(profile.incomplete));
  return name;
}

// With the trigger's name short: speedscope shows this between its buttons, and cuts it at both ends.
std::string name_of_all(const Profile& profile) {
  constexpr std::size_t columns_for_trigger = 40;
  const std::string trigger = clean_name(profile.trigger);
  return mark_incomplete(title(profile).replace(0, trigger.size(), label(trigger, columns_for_trigger)), profile);
}

// It is not known which of those merged the reason is of.
std::string name_of_part(const Profile& profile, const ProfilePart& part, std::uint64_t total_weight) {
  std::string name = fmt::format("invocation {}", grouped(part.invocation));
  if (part.thread_id != 0) name += fmt::format(", thread {}", part.thread_id);
  name += fmt::format(": {}", weight(total_weight, profile.unit));
  if (!profile.incomplete.empty()) name += fmt::format(" (not all are complete: {})", clean_name(profile.incomplete));
  return name;
}

void write_parts(Json& json, const Profile& profile, const std::vector<FrameNumber>& numbers) {
  for (const ProfilePart& part : profile.parts) {
    const std::uint64_t weight = total(part.timeline);
    const bool is_only = profile.parts.size() == 1;
    const std::string name = is_only ? name_of_all(profile) : name_of_part(profile, part, weight);
    begin_profile(json, "evented", name, profile.unit, weight);
    write_events(json, profile.tree, part.timeline, numbers);
    json.EndObject();
  }
}

void write_sum(Json& json, const Profile& profile, const std::vector<FrameNumber>& numbers) {
  begin_profile(json, "sampled", name_of_all(profile), profile.unit, profile.tree.total_weight());
  write_samples(json, profile.tree, numbers);
  json.EndObject();
}

std::size_t deepest_stack(const CallTree& tree) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  const auto enter = [&](NodeId) {
    deepest = std::max(deepest, ++depth);
    return true;
  };
  walk(tree, enter, [&](NodeId) { --depth; });
  return deepest;
}

}  // namespace

void write_speedscope(const Profile& profile, Output& output) {
  const bool has_order = order_is_known(profile);
  if (!has_order) {
    output.notes.emplace_back(
        "there were too many calls to keep their order: the file for speedscope has each stack once, with its sum");
  }
  // It recurses over the tree: in Chromium, 4,000 frames have been seen to be too many as long as its code is not
  // optimized, which a run decides, and 3,600 never.
  constexpr std::size_t readable_depth = 3000;
  if (const std::size_t depth = deepest_stack(profile.tree); depth > readable_depth) {
    output.notes.push_back(
        fmt::format("stacks are up to {} frames deep, and speedscope can fail to open more than "
                    "{}: --max-depth {} keeps the outermost",
                    grouped(depth), grouped(readable_depth), readable_depth));
  }
  Buffer buffer(output.stream);
  Json json(buffer);
  json.StartObject();
  put(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
  put(json, "exporter", "flamb " FLAMB_VERSION);
  put(json, "name", mark_incomplete(title(profile), profile));
  put(json, "activeProfileIndex", std::uint64_t{0});
  const std::vector<FrameNumber> numbers = write_frames(json, profile);
  json.Key("profiles");
  json.StartArray();
  if (has_order) {
    write_parts(json, profile, numbers);
  } else {
    write_sum(json, profile, numbers);
  }
  json.EndArray();
  json.EndObject();
}

}  // namespace flamb
