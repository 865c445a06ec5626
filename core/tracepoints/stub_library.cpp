#include "tracepoints/stub_library.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <tuple>
#include <utility>

#include "tracepoints/unwind_table.h"

namespace flamb {
namespace {

constexpr Address page = 0x1000;
constexpr std::size_t stub_alignment = 16;
constexpr std::size_t push_size = 5;         // of a stub: push imm32, ...
constexpr std::size_t continuation_at = 16;  // ... jmp qword ptr [rip + distance], up to the next multiple of 16
constexpr std::uint8_t filler = 0xCC;        // int3

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

// The start of the file, and of the first page in memory.
struct Head {
  Elf64_Ehdr header;
  std::array<Elf64_Phdr, 7> segments;
  std::array<std::uint32_t, 4> hash;  // loaders want a table of symbols, be it empty
  Elf64_Sym no_symbol;
  std::array<char, 16> dynamic_names;
  Address agent_entry;
};
constexpr auto dynamic_names = std::to_array("\0flamb-stubs.so");
static_assert(sizeof(Head) <= page && dynamic_names.size() <= sizeof Head::dynamic_names);

enum Section : std::uint16_t {
  no_section,
  hash,
  dynamic_symbols,
  dynamic_strings,
  rodata,
  text,
  search_table,
  eh_frame,
  dynamic,
  symbols,
  strings,
  section_names,
  section_count
};

// What stubs and continuations consist of.
class Stubs {
 public:
  Stubs(std::size_t functions, Address base) : start_(base + page), slot_(base + offsetof(Head, agent_entry)) {
    code.reserve(functions * 48);
    symbols.reserve(functions + 1);
    symbols.resize(1);
  }

  // The error says why the function is left alone.
  Result<StubLibrary::Patch> add(const StubLibrary::Function& function);

  std::vector<std::uint8_t> code;
  UnwindTable unwind_table;
  std::vector<Elf64_Sym> symbols;
  std::string symbol_names = std::string(1, '\0');

 private:
  template <class T>
  void put(T value) {
    for (const std::uint8_t byte : std::bit_cast<std::array<std::uint8_t, sizeof(T)>>(value)) code.push_back(byte);
  }
  void add_symbol(std::string_view name, Address stub, std::size_t size);

  Address start_;
  Address slot_;
};

Result<StubLibrary::Patch> Stubs::add(const StubLibrary::Function& function) {
  const Address stub = start_ + round_up(code.size(), stub_alignment);
  const auto continuation = relocate(function.code, stub + continuation_at);
  if (!continuation) return tl::unexpected(continuation.error());
  const auto to_stub = static_cast<std::int64_t>(stub - function.code.entry - patch_size);
  if (to_stub != static_cast<std::int32_t>(to_stub)) return fail(Fault::target, "it is too far away");
  code.resize(stub - start_, filler);
  put<std::uint8_t>(0x68);
  put(function.id);
  put<std::uint16_t>(0x25FF);
  put(static_cast<std::int32_t>(slot_ - (start_ + code.size() + sizeof(std::int32_t))));
  code.resize(stub + continuation_at - start_, filler);
  code.insert(code.end(), continuation->code.begin(), continuation->code.end());
  const std::size_t size = continuation_at + continuation->code.size();
  unwind_table.add(stub, size, push_size, continuation_at, *continuation);
  add_symbol(function.name, stub, size);

  StubLibrary::Patch patch{function.id,       function.code.entry,    {},
                           {std::byte{0xE9}}, continuation->replaced, stub + continuation_at};
  std::memcpy(patch.original.data(), function.code.bytes.data(), patch_size);
  const auto relative = static_cast<std::int32_t>(to_stub);
  std::memcpy(patch.replacement.data() + 1, &relative, sizeof relative);
  return patch;
}

void Stubs::add_symbol(std::string_view name, Address stub, std::size_t size) {
  Elf64_Sym symbol{};
  symbol.st_name = static_cast<Elf64_Word>(symbol_names.size());
  symbol.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
  symbol.st_shndx = text;
  symbol.st_value = stub;
  symbol.st_size = size;
  symbols.push_back(symbol);
  // Debuggers look for some functions by what a symbol begins with.
  symbol_names.append("[flamb] ").append(name).append(1, '\0');
}

// The ELF file. What is loaded lies in it as in memory; behind that is what only debuggers read.
class File {
 public:
  File(Stubs&& stubs, Address base, Address agent_entry);

  Address end() const { return end_; }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  // Appends at the next multiple of `unit`.
  void add(Section section, std::uint32_t type, std::uint64_t flags, std::span<const std::byte> content,
           std::uint64_t unit);
  void add_head_section(Section section, std::uint32_t type, std::size_t offset, std::size_t size);
  void add_dynamic();
  void add_names();
  void put_head(Address agent_entry);
  Elf64_Phdr segment(std::uint32_t type, std::uint32_t flags, Section first, Section last) const;
  void describe(Section section, Section linked, std::uint64_t entry_size, std::uint32_t info = 0);

  Address base_;
  Address end_ = 0;
  std::vector<std::uint8_t> bytes_;
  std::array<Elf64_Shdr, section_count> sections_{};
};

template <class T>
std::span<const std::byte> bytes_of(const T& list) {
  return std::as_bytes(std::span(list));
}

File::File(Stubs&& stubs, Address base, Address agent_entry) : base_(base) {
  bytes_.resize(sizeof(Head));
  add_head_section(hash, SHT_HASH, offsetof(Head, hash), sizeof Head::hash);
  add_head_section(dynamic_symbols, SHT_DYNSYM, offsetof(Head, no_symbol), sizeof Head::no_symbol);
  add_head_section(dynamic_strings, SHT_STRTAB, offsetof(Head, dynamic_names), sizeof Head::dynamic_names);
  add_head_section(rodata, SHT_PROGBITS, offsetof(Head, agent_entry), sizeof Head::agent_entry);
  add(text, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, bytes_of(stubs.code), page);
  const Address unwinding = base + round_up(bytes_.size(), page);
  const UnwindTable::Sections unwind = std::move(stubs.unwind_table).finish(unwinding);
  add(search_table, SHT_PROGBITS, SHF_ALLOC, bytes_of(unwind.search_table), page);
  add(eh_frame, SHT_PROGBITS, SHF_ALLOC, bytes_of(unwind.entries), 8);
  add_dynamic();
  end_ = base + bytes_.size();
  add(symbols, SHT_SYMTAB, 0, bytes_of(stubs.symbols), 8);
  add(strings, SHT_STRTAB, 0, bytes_of(stubs.symbol_names), 1);
  add_names();
  describe(hash, dynamic_symbols, sizeof(std::uint32_t));
  describe(dynamic_symbols, dynamic_strings, sizeof(Elf64_Sym), 1);
  describe(dynamic, dynamic_strings, sizeof(Elf64_Dyn));
  describe(symbols, strings, sizeof(Elf64_Sym), static_cast<std::uint32_t>(stubs.symbols.size()));
  put_head(agent_entry);
}

void File::add(Section section, std::uint32_t type, std::uint64_t flags, std::span<const std::byte> content,
               std::uint64_t unit) {
  const std::uint64_t offset = round_up(bytes_.size(), unit);
  bytes_.resize(offset + content.size());
  if (!content.empty()) std::memcpy(bytes_.data() + offset, content.data(), content.size());
  const Address address = (flags & SHF_ALLOC) != 0 ? base_ + offset : 0;
  sections_.at(section) = {0, type, flags, address, offset, content.size(), 0, 0, unit, 0};
}

void File::add_head_section(Section section, std::uint32_t type, std::size_t offset, std::size_t size) {
  sections_.at(section) = {0, type, SHF_ALLOC, base_ + offset, offset, size, 0, 0, 8, 0};
}

void File::describe(Section section, Section linked, std::uint64_t entry_size, std::uint32_t info) {
  sections_.at(section).sh_link = linked;
  sections_.at(section).sh_entsize = entry_size;
  sections_.at(section).sh_info = info;
}

// Loaders write the addresses that they find here into the section itself: it is the one that can be written to.
void File::add_dynamic() {
  const auto entry = [](std::int64_t tag, std::uint64_t value) { return Elf64_Dyn{tag, {value}}; };
  const std::array entries = {entry(DT_SONAME, 1),
                              entry(DT_HASH, sections_.at(hash).sh_addr),
                              entry(DT_STRTAB, sections_.at(dynamic_strings).sh_addr),
                              entry(DT_SYMTAB, sections_.at(dynamic_symbols).sh_addr),
                              entry(DT_STRSZ, sizeof Head::dynamic_names),
                              entry(DT_SYMENT, sizeof(Elf64_Sym)),
                              entry(DT_NULL, 0)};
  add(dynamic, SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, bytes_of(entries), page);
}

void File::add_names() {
  constexpr std::array<std::string_view, section_count> names = {"",         ".hash",   ".dynsym",       ".dynstr",
                                                                 ".rodata",  ".text",   ".eh_frame_hdr", ".eh_frame",
                                                                 ".dynamic", ".symtab", ".strtab",       ".shstrtab"};
  std::string all;
  for (std::size_t each = 0; each < names.size(); ++each) {
    sections_.at(each).sh_name = static_cast<Elf64_Word>(all.size());
    all.append(names.at(each)).append(1, '\0');
  }
  const Elf64_Word own_name = sections_.at(section_names).sh_name;
  add(section_names, SHT_STRTAB, 0, bytes_of(all), 1);
  sections_.at(section_names).sh_name = own_name;
}

void File::put_head(Address agent_entry) {
  const std::uint64_t headers = round_up(bytes_.size(), 8);
  bytes_.resize(headers + sizeof sections_);
  std::memcpy(bytes_.data() + headers, sections_.data(), sizeof sections_);

  Head head{};
  head.header = {{ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                 ET_DYN,
                 EM_X86_64,
                 EV_CURRENT,
                 0,
                 offsetof(Head, segments),
                 headers,
                 0,
                 sizeof(Elf64_Ehdr),
                 sizeof(Elf64_Phdr),
                 std::tuple_size_v<decltype(Head::segments)>,
                 sizeof(Elf64_Shdr),
                 section_count,
                 section_names};
  head.segments = {Elf64_Phdr{PT_LOAD, PF_R, 0, base_, base_, sizeof(Head), sizeof(Head), page},
                   segment(PT_LOAD, PF_R | PF_X, text, text),
                   segment(PT_LOAD, PF_R, search_table, eh_frame),
                   segment(PT_LOAD, PF_R | PF_W, dynamic, dynamic),
                   segment(PT_DYNAMIC, PF_R | PF_W, dynamic, dynamic),
                   segment(PT_GNU_EH_FRAME, PF_R, search_table, search_table),
                   {PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16}};
  head.hash = {1, 1, 0, 0};  // one bucket, one symbol: none
  std::copy(dynamic_names.begin(), dynamic_names.end(), head.dynamic_names.begin());
  head.agent_entry = agent_entry;
  std::memcpy(bytes_.data(), &head, sizeof head);
}

// From the start of the first section to the end of the last one.
Elf64_Phdr File::segment(std::uint32_t type, std::uint32_t flags, Section first, Section last) const {
  const Elf64_Shdr& start = sections_.at(first);
  const std::uint64_t size = sections_.at(last).sh_offset + sections_.at(last).sh_size - start.sh_offset;
  const std::uint64_t alignment = type == PT_LOAD ? page : start.sh_addralign;
  return {type, flags, start.sh_offset, start.sh_addr, start.sh_addr, size, size, alignment};
}

}  // namespace

std::uint64_t StubLibrary::max_size(std::size_t functions) {
  constexpr std::size_t per_function =
      continuation_at + round_up(Continuation::max_size, stub_alignment) + UnwindTable::max_entry_size;
  return functions * per_function + UnwindTable::max_fixed_size + 4 * page;  // each segment begins a page
}

StubLibrary::StubLibrary(std::span<const Function> functions, Address base, Address agent_entry) : base_(base) {
  Stubs stubs(functions.size(), base);
  patches_.reserve(functions.size());
  for (const Function& function : functions) {
    auto patch = stubs.add(function);
    if (patch) {
      patches_.push_back(*patch);
    } else {
      refusals_.push_back({function.id, std::move(patch.error().message)});
    }
  }
  File file(std::move(stubs), base, agent_entry);
  end_ = file.end();
  file_ = file.take();
}

Result<void> StubLibrary::write(const std::string& path) const {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(file_.data()), static_cast<std::streamsize>(file_.size()));
  out.close();
  if (out) return {};
  return fail(Fault::user, fmt::format("cannot write \"{}\": {}", path, std::strerror(errno)));
}

}  // namespace flamb
