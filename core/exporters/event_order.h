#pragma once

#include <algorithm>
#include <cstdint>

#include "exporters/tree_walk.h"
#include "profile.h"

// The events of a profile again, for the formats that are made of them.
namespace flamb {

// Did every part keep its order?
inline bool order_is_known(const Profile& profile) {
  return std::ranges::all_of(profile.parts, [](const ProfilePart& part) { return part.timeline.is_complete(); });
}

// Calls enter(NodeId), leave() and weigh(thread, weight): part after part in the order of events if that is known, else
// in the order of the tree, each node once and all in the first part's thread. No weight is 0. All that is entered is
// left. The sums of weights are the tree's either way.
template <class Enter, class Leave, class Weigh>
void replay(const Profile& profile, Enter enter, Leave leave, Weigh weigh) {
  if (order_is_known(profile)) {
    for (const ProfilePart& part : profile.parts) {
      part.timeline.replay(enter, leave, [&](std::uint64_t weight) { weigh(part.thread_id, weight); });
    }
    return;
  }
  const auto visit = [&](NodeId id) {
    enter(id);
    if (const std::uint64_t self = profile.tree[id].self; self > 0) weigh(profile.parts.front().thread_id, self);
    return true;
  };
  walk(profile.tree, visit, [&](NodeId) { leave(); });
}

}  // namespace flamb
