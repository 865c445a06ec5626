#include <elf.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "native_target.h"

namespace flamb {
namespace {

// One line of /proc/PID/maps.
struct Mapping {
  Address start = 0;
  std::uint64_t offset = 0;
  bool executable = false;
  std::string path;
};

// One loading of one file: its mappings lie in ascending order of file offset.
struct Loading {
  Mapping first;
  std::uint64_t last_offset = 0;
  bool has_code = false;
};

std::optional<Mapping> parse_mapping(const std::string& line) {
  unsigned long long start = 0;
  unsigned long long offset = 0;
  char permissions[5] = {};
  int path_at = 0;
  if (std::sscanf(line.c_str(), "%llx-%*x %4s %llx %*x:%*x %*u %n", &start, permissions, &offset, &path_at) < 3) {
    return std::nullopt;
  }
  std::string path = line.substr(std::min<std::size_t>(static_cast<std::size_t>(path_at), line.size()));
  constexpr std::string_view deleted = " (deleted)";
  if (path.ends_with(deleted)) path.resize(path.size() - deleted.size());
  if (!path.starts_with('/')) return std::nullopt;
  return Mapping{start, offset, permissions[2] == 'x', std::move(path)};
}

std::vector<Loading> loadings(std::istream& maps) {
  std::vector<Loading> all;
  for (std::string line; std::getline(maps, line);) {
    std::optional<Mapping> mapping = parse_mapping(line);
    if (!mapping) continue;
    // The same file at a lower offset again is a second loading of it, in a namespace of its own (dlmopen).
    auto open = std::find_if(all.rbegin(), all.rend(), [&](const Loading& l) { return l.first.path == mapping->path; });
    if (open == all.rend() || (mapping->offset == open->first.offset && mapping->offset < open->last_offset)) {
      all.push_back({*mapping, mapping->offset, mapping->executable});
    } else {
      open->last_offset = std::max(open->last_offset, mapping->offset);
      open->has_code |= mapping->executable;
    }
  }
  return all;
}

// The address in the file of what is mapped from `offset`; nothing if it is no 64-bit ELF file or loads nothing from
// there.
std::optional<Address> file_address(const std::string& path, std::uint64_t offset) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  if (!std::equal(header.e_ident, header.e_ident + SELFMAG, ELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64) {
    return std::nullopt;
  }
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof segment));
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return std::nullopt;
    constexpr std::uint64_t page = 4096;
    const std::uint64_t begin = segment.p_offset & ~(page - 1);
    if (segment.p_type != PT_LOAD || offset < begin || offset >= segment.p_offset + segment.p_filesz) continue;
    return segment.p_vaddr - segment.p_offset + offset;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Module>> mapped_modules(pid_t pid) {
  const std::string directory = "/proc/" + std::to_string(pid);
  std::ifstream maps(directory + "/maps");
  if (!maps) {
    return fail(Fault::target, fmt::format("the memory map of process {} cannot be read ({}/maps)", pid, directory),
                "the process may have ended: run it again");
  }
  std::error_code ignored;
  const std::string program = std::filesystem::read_symlink(directory + "/exe", ignored).string();

  std::vector<Module> modules;
  for (const Loading& loading : loadings(maps)) {
    if (!loading.has_code) continue;
    const std::optional<Address> address = file_address(loading.first.path, loading.first.offset);
    if (!address) continue;
    const bool is_program = program == loading.first.path || program == loading.first.path + " (deleted)";
    modules.push_back({loading.first.path, loading.first.start - *address, is_program});
  }
  std::stable_partition(modules.begin(), modules.end(), [](const Module& module) { return module.is_program; });
  return modules;
}

}  // namespace flamb
