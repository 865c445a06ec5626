#include "exporters/perf_process.h"

#include <algorithm>

#include "exporters/event_order.h"
#include "exporters/frame_name.h"

namespace flamb {

std::uint32_t perf_pid(const Profile& profile) {
  if (profile.pid > 0) return static_cast<std::uint32_t>(profile.pid);
  const std::uint64_t thread = profile.parts.front().thread_id;
  return thread != 0 ? static_cast<std::uint32_t>(thread) : 1;
}

std::uint32_t perf_tid(const Profile& profile, std::uint64_t thread) {
  return thread != 0 ? static_cast<std::uint32_t>(thread) : perf_pid(profile);
}

std::string perf_command(const Profile& profile) {
  constexpr std::size_t longest = 15;  // TASK_COMM_LEN of include/linux/sched.h, without its NUL
  const std::string_view path = profile.program;
  std::string name = clean_name(path.substr(path.rfind('/') + 1));
  if (name.size() <= longest) return name;
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  name.resize(end);
  return name;
}

std::string note_of_lost_order(const Profile& profile) {
  const std::uint64_t first = profile.parts.front().thread_id;
  const bool is_one = std::ranges::all_of(profile.parts, [first](const auto& part) { return part.thread_id == first; });
  if (is_one || order_is_known(profile)) return {};
  return "there were too many calls to keep their order and threads: all are shown in the first invocation's thread";
}

}  // namespace flamb
