#include "program/elf_image.h"

#include <sys/stat.h>

#include <algorithm>

namespace flamb {
namespace {

const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

std::span<const std::byte> section_bytes(Elf_Scn* section, const GElf_Shdr& header) {
  if (header.sh_type == SHT_NOBITS) return {};
  const Elf_Data* data = elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const std::byte*>(data->d_buf), data->d_size};
}

}  // namespace

ElfImage::Identity ElfImage::Identity::of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = static_cast<std::uint64_t>(status.st_size),
          .seconds = status.st_mtim.tv_sec,
          .nanoseconds = status.st_mtim.tv_nsec};
}

Result<std::unique_ptr<ElfImage>> ElfImage::open(const std::string& path) {
  const auto refuse = [&](std::string_view why) {
    return fail(Fault::user, fmt::format("cannot read the symbols of {}: {}", path, why));
  };
  std::unique_ptr<ElfImage> image(new ElfImage);
  image->path_ = path;
  image->identity_ = Identity::of(path);
  image->dwfl_.reset(dwfl_begin(&callbacks));
  if (!image->dwfl_) return refuse(dwfl_errmsg(-1));

  // Laid out at base 0 with its own addresses, so that load address = address in the file + load bias.
  dwfl_report_begin(image->dwfl_.get());
  image->module_ = dwfl_report_elf(image->dwfl_.get(), path.c_str(), path.c_str(), -1, 0, true);
  if (image->module_ == nullptr) return refuse(dwfl_errmsg(-1));
  dwfl_report_end(image->dwfl_.get(), nullptr, nullptr);
  GElf_Addr bias = 0;
  image->elf_ = dwfl_module_getelf(image->module_, &bias);
  if (image->elf_ == nullptr) return refuse(dwfl_errmsg(-1));

  GElf_Ehdr header;
  if (gelf_getehdr(image->elf_, &header) == nullptr) return refuse(elf_errmsg(-1));
  if (header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64) return refuse("it is not x86-64 code");
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) return refuse("it is neither a program nor a library");
  image->is_fixed_ = header.e_type == ET_EXEC;
  image->read_segments();
  return image;
}

void ElfImage::read_segments() {
  std::size_t count = 0;
  if (elf_getphdrnum(elf_, &count) != 0) return;
  for (std::size_t index = 0; index < count; ++index) {
    GElf_Phdr header;
    if (gelf_getphdr(elf_, static_cast<int>(index), &header) == nullptr || header.p_type != PT_LOAD) continue;
    segments_.push_back({header.p_vaddr, header.p_vaddr + header.p_memsz, (header.p_flags & PF_X) != 0});
  }
}

bool ElfImage::is_code(std::uint64_t address) const {
  return std::any_of(segments_.begin(), segments_.end(), [&](const Segment& segment) {
    return segment.is_executable && segment.start <= address && address < segment.end;
  });
}

const std::vector<ElfImage::Section>& ElfImage::sections() const {
  std::size_t names = 0;
  if (!sections_.empty() || elf_getshdrstrndx(elf_, &names) != 0) return sections_;
  sections_.emplace_back();  // index 0 is no section
  for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr; section = elf_nextscn(elf_, section)) {
    Section& added = sections_.emplace_back();
    if (gelf_getshdr(section, &added.header) == nullptr) continue;
    const char* name = elf_strptr(elf_, names, added.header.sh_name);
    if (name != nullptr) added.name = name;
    added.bytes = section_bytes(section, added.header);
  }
  return sections_;
}

const ElfImage::Section* ElfImage::section(std::size_t index) const {
  return index != SHN_UNDEF && index < sections().size() ? &sections_[index] : nullptr;
}

const ElfImage::Section* ElfImage::section(std::string_view name) const {
  const auto found =
      std::find_if(sections().begin(), sections().end(), [&](const Section& s) { return s.name == name; });
  return found != sections_.end() ? &*found : nullptr;
}

const ElfImage::Section* ElfImage::section_at(std::uint64_t address) const {
  const auto found = std::find_if(sections().begin(), sections().end(), [&](const Section& s) {
    // .tbss lies over the sections that follow it
    return s.is_loaded() && (s.header.sh_flags & SHF_TLS) == 0 && s.header.sh_addr <= address && address < s.end();
  });
  return found != sections_.end() ? &*found : nullptr;
}

bool ElfImage::is_current() const { return identity_ == Identity::of(path_); }

}  // namespace flamb
