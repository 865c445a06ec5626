// perf.data, for perf report, perf script and hotspot.
//
// Its header says how long what follows is, and not every stream can be gone back in: so the events are replayed twice,
// once to measure and once to write.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <set>
#include <utility>
#include <vector>

#include "exporters/event_order.h"
#include "exporters/exporter.h"
#include "exporters/numbers.h"
#include "exporters/perf_names.h"
#include "exporters/perf_process.h"
#include "exporters/perf_record.h"

namespace flamb {
namespace {

struct Section {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// struct perf_header of the file format.
struct FileHeader {
  std::array<char, 8> magic = {'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'};
  std::uint64_t size = sizeof(FileHeader);
  std::uint64_t attribute_size = sizeof(PerfAttribute) + sizeof(Section);
  Section attributes;
  Section data;
  Section event_types = {};
  std::array<std::uint64_t, 4> features = {};
};
static_assert(sizeof(FileHeader) == 104);

constexpr std::uint64_t data_begin = sizeof(FileHeader) + sizeof(PerfAttribute) + sizeof(Section);

// Header feature bits of tools/perf/util/header.h.
enum Feature : unsigned {
  hostname = 3,
  os_release = 4,
  version = 5,
  architecture = 6,
  processors = 7,
  command_line = 11,
  event_description = 12
};

// Where the library of names is mapped: anywhere will do.
constexpr std::uint64_t mapped_at = 0x10000000;
constexpr std::uint64_t page = 0x1000;

constexpr std::size_t sample_size_without_frames = 64;

class PerfData {
 public:
  PerfData(const Profile& profile, Output& output)
      : profile_(profile), output_(output), names_(profile), pid_(perf_pid(profile)), command_(perf_command(profile)) {}

  void write();

 private:
  void measure();
  void write_header();
  void write_process();
  void write_samples();
  void write_features();
  void add_notes();

  std::uint64_t data_size();
  std::vector<std::pair<Feature, std::string>> features() const;
  std::string_view command_record(std::uint32_t tid);
  std::string_view mapping_record();
  std::string_view sample_record(PerfMoment moment, std::uint64_t weight);
  void put_out(std::string_view bytes) {
    output_.stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::uint64_t time_of(std::uint64_t weight) const { return weight * perf_nanoseconds(profile_.unit); }

  const Profile& profile_;
  Output& output_;
  const PerfNames names_;
  const std::uint32_t pid_;
  const std::string command_;
  PerfRecord record_;
  std::vector<std::uint64_t> stack_;  // addresses of the open frames, root first

  // What the first replay finds.
  std::uint64_t samples_size_ = 0;
  std::uint64_t first_weight_ = 0;
  std::size_t deepest_ = 0;
  std::set<std::uint32_t> threads_;
};

void PerfData::measure() {
  for (const ProfilePart& part : profile_.parts) threads_.insert(perf_tid(profile_, part.thread_id));
  std::size_t depth = 0;
  replay(
      profile_, [&](NodeId) { ++depth; }, [&] { --depth; },
      [&](std::uint64_t, std::uint64_t weight) {
        samples_size_ += sample_size_without_frames + 8 * std::min(depth, perf_max_frames);
        if (first_weight_ == 0) first_weight_ = weight;
        deepest_ = std::max(deepest_, depth);
      });
}

void PerfData::write() {
  measure();
  write_header();
  write_process();
  write_samples();
  write_features();
  add_notes();
}

void PerfData::write_header() {
  FileHeader header;
  header.attributes = {sizeof(FileHeader), header.attribute_size};
  header.data = {data_begin, data_size()};
  for (const auto& [feature, content] : features()) header.features[0] |= std::uint64_t{1} << feature;
  std::string bytes;
  put(bytes, header);
  put(bytes, perf_attribute());
  put(bytes, Section{});  // of the event's ids: with one event it needs none
  put_out(bytes);
}

std::uint64_t PerfData::data_size() {
  std::uint64_t size = samples_size_ + mapping_record().size();
  for (const std::uint32_t tid : threads_) size += command_record(tid).size();
  return size;
}

// Both bear the time of the first sample: hotspot takes the first time it sees for the begin of the program.
void PerfData::write_process() {
  for (const std::uint32_t tid : threads_) put_out(command_record(tid));
  put_out(mapping_record());
}

std::string_view PerfData::command_record(std::uint32_t tid) {
  record_.begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
  record_.add(pid_);
  record_.add(tid);
  record_.add_text(command_);
  record_.add(PerfMoment{pid_, tid, time_of(first_weight_)});
  return record_.end();
}

std::string_view PerfData::mapping_record() {
  struct Mapping {
    std::uint64_t address;
    std::uint64_t size;
    std::uint64_t offset;
    std::uint32_t major;
    std::uint32_t minor;
    std::uint64_t inode;
    std::uint64_t inode_generation;
    std::uint32_t protection;
    std::uint32_t flags;
  };
  const std::uint64_t size = (names_.end() + page - 1) / page * page;
  record_.begin(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
  record_.add(pid_);
  record_.add(pid_);
  record_.add(Mapping{mapped_at, size, 0, 0, 0, 0, 0, PROT_READ | PROT_EXEC, MAP_PRIVATE});
  record_.add_text(output_.companion.empty() ? "flamb.symbols" : output_.companion);
  record_.add(PerfMoment{pid_, pid_, time_of(first_weight_)});
  return record_.end();
}

// A sample is taken when its weight is over, as perf does: when a counter overflows.
void PerfData::write_samples() {
  std::uint64_t weight_so_far = 0;
  const auto enter = [&](NodeId id) { stack_.push_back(mapped_at + names_.address(profile_.tree[id].frame)); };
  const auto weigh = [&](std::uint64_t thread, std::uint64_t weight) {
    weight_so_far += weight;
    put_out(sample_record({pid_, perf_tid(profile_, thread), time_of(weight_so_far)}, weight));
  };
  replay(
      profile_, enter, [&] { stack_.pop_back(); }, weigh);
}

// Without PERF_RECORD_MISC_USER no address is looked up.
std::string_view PerfData::sample_record(PerfMoment moment, std::uint64_t weight) {
  const std::size_t cut = perf_cut_frames(stack_.size());
  const std::size_t at_root = cut > 0 ? perf_kept_at_root : stack_.size() - 1;
  record_.begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
  record_.add(stack_.back());
  record_.add(moment);
  record_.add(weight);
  record_.add(std::uint64_t{std::min(stack_.size(), perf_max_frames) + 1});
  record_.add(static_cast<std::uint64_t>(PERF_CONTEXT_USER));
  record_.add(stack_.back());
  if (cut > 0) record_.add(mapped_at + names_.address_of_cut(cut));
  for (std::size_t at = at_root; at > 0; --at) record_.add(stack_[at - 1]);
  return record_.end();
}

// Without host name or command line hotspot's parser complains, and may hang.
std::vector<std::pair<Feature, std::string>> PerfData::features() const {
  std::vector<std::pair<Feature, std::string>> list;
  const auto add_string = [&](Feature feature, std::string_view text) {
    put_string(list.emplace_back(feature, std::string()).second, text);
  };
  utsname system{};
  ::uname(&system);
  add_string(hostname, system.nodename);
  add_string(os_release, system.release);
  add_string(version, "flamb " FLAMB_VERSION);
  add_string(architecture, system.machine);

  std::string& counts = list.emplace_back(processors, std::string()).second;
  put(counts, static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_CONF)));
  put(counts, static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN)));

  // The one place for text of one's own: what was captured, and whether it is whole.
  std::string& command = list.emplace_back(command_line, std::string()).second;
  put(command, std::uint32_t{3});
  for (const std::string& word : {std::string("flamb"), title(profile_), subtitle(profile_)}) put_string(command, word);

  std::string& event = list.emplace_back(event_description, std::string()).second;
  put(event, std::uint32_t{1});
  put(event, static_cast<std::uint32_t>(sizeof(PerfAttribute)));
  put(event, perf_attribute());
  put(event, std::uint32_t{0});  // ids
  put_string(event, unit_name(profile_.unit));
  return list;
}

// A table of where each is, in the order of their bits, and then they themselves.
void PerfData::write_features() {
  const auto list = features();
  Section section{data_begin + data_size() + list.size() * sizeof(Section), 0};
  std::string bytes;
  for (const auto& [feature, content] : list) {
    section.size = content.size();
    put(bytes, section);
    section.offset += section.size;
  }
  for (const auto& [feature, content] : list) bytes += content;
  put_out(bytes);
}

void PerfData::add_notes() {
  constexpr std::size_t shown_by_perf = 127;  // PERF_MAX_STACK_DEPTH of perf_event.h
  if (const std::string note = note_of_lost_order(profile_); !note.empty()) output_.notes.push_back(note);
  if (const std::uint64_t cut = names_.cut_stacks(); cut > 0) {
    output_.notes.push_back(fmt::format("perf-data has room for {} frames of a stack: the middle of {} is left out",
                                        grouped(perf_max_frames),
                                        cut == 1 ? "1 stack" : fmt::format("{} stacks", grouped(cut))));
  }
  if (deepest_ > shown_by_perf) {
    output_.notes.push_back(fmt::format(
        "perf shows the innermost {} frames of a stack unless it is given --max-stack {}; hotspot shows all",
        shown_by_perf, std::min(deepest_, perf_max_frames)));
  }
}

}  // namespace

void write_perf_data(const Profile& profile, Output& output) { PerfData(profile, output).write(); }

}  // namespace flamb
