#include "exporters/perf_names.h"

#include <elf.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <ostream>

#include "exporters/frame_name.h"
#include "exporters/numbers.h"
#include "exporters/tree_walk.h"

namespace flamb {
namespace {

// libelf writes to a file descriptor only: one to memory.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("flamb", MFD_CLOEXEC)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  int descriptor() const { return descriptor_; }

  bool copy_to(std::ostream& out) const {
    std::array<char, 1 << 16> block;
    for (off_t at = 0;;) {
      const ssize_t size = ::pread(descriptor_, block.data(), block.size(), at);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return size == 0;
      out.write(block.data(), size);
      at += size;
    }
  }

 private:
  int descriptor_;
};

// An ELF file of four sections: .text, of which only the addresses are of use, .symtab, .strtab and .shstrtab.
class Library {
 public:
  explicit Library(const PerfNames& names) : names_(names) {}

  bool write(int descriptor);

 private:
  enum Index : unsigned { none, text, symbols, strings, section_names, count };

  bool fill(Elf* elf);
  void make_symbols();
  bool add_section(Elf* elf, GElf_Shdr header, void* content);

  const PerfNames& names_;
  std::vector<Elf64_Sym> symbols_;
  std::string strings_;
  std::array<char, 33> section_names_ = std::to_array("\0.text\0.symtab\0.strtab\0.shstrtab");
  std::uint64_t end_ = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);  // of what is in the file so far
};

void Library::make_symbols() {
  symbols_.resize(1);
  strings_ = std::string(1, '\0');
  for (std::size_t each = 0; each < names_.names().size(); ++each) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(strings_.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = text;
    symbol.st_value = PerfNames::begin(each);
    symbol.st_size = PerfNames::size;
    symbols_.push_back(symbol);
    strings_.append(names_.names()[each]).append(1, '\0');
  }
}

bool Library::add_section(Elf* elf, GElf_Shdr header, void* content) {
  Elf_Scn* const section = elf_newscn(elf);
  if (section == nullptr) return false;
  if (header.sh_type != SHT_NOBITS) {
    end_ = (end_ + header.sh_addralign - 1) / header.sh_addralign * header.sh_addralign;
    header.sh_offset = end_;
    end_ += header.sh_size;
    Elf_Data* const data = elf_newdata(section);
    if (data == nullptr) return false;
    data->d_buf = content;
    data->d_size = header.sh_size;
    data->d_align = header.sh_addralign;
    data->d_type = header.sh_type == SHT_SYMTAB ? ELF_T_SYM : ELF_T_BYTE;
  }
  return gelf_update_shdr(section, &header) != 0;
}

bool Library::fill(Elf* elf) {
  if (elf == nullptr || gelf_newehdr(elf, ELFCLASS64) == nullptr || gelf_newphdr(elf, 1) == nullptr) return false;
  make_symbols();
  // Addresses are offsets in the file too: nothing that a reader subtracts of the one for the other makes a difference.
  const std::uint64_t size = names_.end() - PerfNames::first;
  GElf_Phdr segment{};
  segment.p_type = PT_LOAD;
  segment.p_flags = PF_R | PF_X;
  segment.p_memsz = names_.end();
  segment.p_align = 0x1000;
  const bool has_sections =
      add_section(elf,
                  {1, SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, PerfNames::first, PerfNames::first, size, 0, 0, 16, 0},
                  nullptr) &&
      add_section(elf, {7, SHT_SYMTAB, 0, 0, 0, symbols_.size() * sizeof(Elf64_Sym), strings, 1, 8, sizeof(Elf64_Sym)},
                  symbols_.data()) &&
      add_section(elf, {15, SHT_STRTAB, 0, 0, 0, strings_.size(), 0, 0, 1, 0}, strings_.data()) &&
      add_section(elf, {23, SHT_STRTAB, 0, 0, 0, section_names_.size(), 0, 0, 1, 0}, section_names_.data());
  GElf_Ehdr header{};
  if (!has_sections || gelf_getehdr(elf, &header) == nullptr) return false;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_shoff = (end_ + 7) / 8 * 8;
  header.e_shstrndx = section_names;
  return gelf_update_phdr(elf, 0, &segment) != 0 && gelf_update_ehdr(elf, &header) != 0;
}

bool Library::write(int descriptor) {
  if (descriptor < 0 || elf_version(EV_CURRENT) == EV_NONE) return false;
  const std::unique_ptr<Elf, decltype(&elf_end)> elf(elf_begin(descriptor, ELF_C_WRITE, nullptr), elf_end);
  if (!fill(elf.get())) return false;
  elf_flagelf(elf.get(), ELF_C_SET, ELF_F_LAYOUT);
  return elf_update(elf.get(), ELF_C_WRITE) >= 0;
}

}  // namespace

PerfNames::PerfNames(const Profile& profile) : of_frames_(profile.frames->size(), unused) {
  Index known;
  const std::vector<CallTree::Node>& nodes = profile.tree.nodes();
  for (std::size_t id = 1; id < nodes.size(); ++id) {
    const FrameId frame = nodes[id].frame;
    if (of_frames_[frame] == unused) add_frame(frame, (*profile.frames)[frame], known);
  }
  add_cuts(profile.tree);
}

void PerfNames::add_frame(FrameId id, const Frame& frame, Index& known) {
  std::string name = marked_name(frame);
  const auto [at, is_new] = known.emplace(name, names_.size());
  if (is_new) names_.push_back(std::move(name));
  of_frames_[id] = at->second;
}

void PerfNames::add_cuts(const CallTree& tree) {
  std::size_t depth = 0;
  const auto enter = [&](NodeId id) {
    ++depth;
    if (const std::size_t cut = perf_cut_frames(depth); cut > 0 && tree[id].self > 0) {
      of_cuts_.emplace(cut, 0);
      ++cut_stacks_;
    }
    return true;
  };
  walk(tree, enter, [&](NodeId) { --depth; });
  for (auto& [frames, name] : of_cuts_) {
    name = names_.size();
    names_.push_back(fmt::format("[{} frames cut]", grouped(frames)));
  }
}

void write_perf_names(const Profile& profile, std::ostream& out) {
  const PerfNames names(profile);
  const MemoryFile file;
  Library library(names);
  if (!library.write(file.descriptor()) || !file.copy_to(out)) out.setstate(std::ios::badbit);
}

}  // namespace flamb
