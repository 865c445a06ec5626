#include "program/symbol_table.h"

#include <algorithm>
#include <tuple>

#include "program/demangle.h"
#include "program/eh_frame.h"

namespace flamb {
namespace {

struct RawSymbol {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::string_view name;
  std::size_t underscores = 0;
  Binding binding = Binding::local;
  bool is_ifunc = false;
};

Binding binding_of(const GElf_Sym& symbol) {
  switch (GELF_ST_BIND(symbol.st_info)) {
    case STB_LOCAL: return Binding::local;
    case STB_WEAK: return Binding::weak;
    default: return Binding::global;
  }
}

bool is_defined(const GElf_Sym& symbol) { return symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0; }

bool is_function(const GElf_Sym& symbol) {
  const int type = GELF_ST_TYPE(symbol.st_info);
  return type == STT_FUNC || type == STT_GNU_IFUNC;
}

// Calls visit(symbol, name, index) for each entry of the file's .dynsym.
template <class Visit>
void for_each_dynamic_symbol(const ElfImage& image, Visit visit) {
  for (const ElfImage::Section& section : image.sections()) {
    if (section.header.sh_type != SHT_DYNSYM) continue;
    const std::span<const Elf64_Sym> symbols = section.entries<Elf64_Sym>();
    for (std::size_t index = 0; index < symbols.size(); ++index) {
      const char* name = elf_strptr(image.elf(), section.header.sh_link, symbols[index].st_name);
      if (name != nullptr) visit(symbols[index], std::string_view(name), index);
    }
  }
}

class Builder {
 public:
  explicit Builder(const ElfImage& image) : image_(image) {
    for (const ElfImage::Section& section : image.sections()) {
      if (section.is_plt()) plts_.push_back({section.header.sh_addr, section.end()});
    }
    if (const ElfImage::Section* frames = image.section(".eh_frame")) {
      ranges_ = read_eh_frame(frames->bytes, frames->header.sh_addr);
      std::sort(ranges_.begin(), ranges_.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
    }
  }

  void collect_symbols() {
    const int count = dwfl_module_getsymtab(image_.module());
    for (int index = 0; index < count; ++index) {
      GElf_Sym symbol;
      GElf_Addr address = 0;
      const char* name = dwfl_module_getsym_info(image_.module(), index, &symbol, &address, nullptr, nullptr, nullptr);
      if (name != nullptr) add(symbol, address, name);
    }
    for_each_dynamic_symbol(image_, [&](const GElf_Sym& symbol, std::string_view name, std::size_t) {
      add(symbol, symbol.st_value, name);
    });
    const auto rank = [](const RawSymbol& s) {
      // An ifunc is called by its own name; that of its resolver lies at the same address.
      return std::tuple(s.address, !s.is_ifunc, s.binding, s.underscores, s.name.size(), s.name);
    };
    std::sort(found_.begin(), found_.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  }

  void build(std::vector<CodeSymbol>& functions, std::vector<FunctionSymbol>& symbols) {
    symbols.reserve(found_.size());
    for (const RawSymbol& symbol : found_) {
      if (functions.empty() || functions.back().start != symbol.address) {
        functions.push_back({symbol.address, symbol.address, symbol.name, symbol.is_ifunc});
      } else if (symbols.back().name == symbol.name) {
        continue;  // in .symtab and in .dynsym
      }
      CodeSymbol& function = functions.back();
      function.end = std::max(function.end, symbol.address + symbol.size);
      function.is_ifunc |= symbol.is_ifunc;
      symbols.push_back({symbol.name, static_cast<std::uint32_t>(functions.size() - 1), symbol.binding});
    }
    bound_those_without_size(functions);
    add_those_without_symbol(functions, symbols);
  }

 private:
  void add(const GElf_Sym& symbol, std::uint64_t address, std::string_view name) {
    if (!is_defined(symbol) || name.empty() || !image_.is_code(address) || in_plt(address)) return;
    name = without_version(name);
    if (is_function(symbol)) {
      found_.push_back({.address = address,
                        .size = symbol.st_size,
                        .name = name,
                        .underscores = std::min(name.find_first_not_of('_'), name.size()),
                        .binding = binding_of(symbol),
                        .is_ifunc = GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC});
    } else if (GELF_ST_TYPE(symbol.st_info) == STT_NOTYPE) {
      labels_.try_emplace(address, name);
    }
  }

  bool in_plt(std::uint64_t address) const {
    return std::any_of(plts_.begin(), plts_.end(),
                       [&](const CodeRange& plt) { return plt.start <= address && address < plt.end; });
  }

  const CodeRange* range_at(std::uint64_t address) const {
    auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                  [](std::uint64_t value, const CodeRange& range) { return value < range.start; });
    if (after == ranges_.begin()) return nullptr;
    --after;
    return address < after->end ? &*after : nullptr;
  }

  // Symbols from assembly can lack a size.
  void bound_those_without_size(std::vector<CodeSymbol>& functions) const {
    for (std::size_t index = 0; index < functions.size(); ++index) {
      CodeSymbol& function = functions[index];
      if (function.end != function.start) continue;
      const ElfImage::Section* section = image_.section_at(function.start);
      std::uint64_t end = section != nullptr ? section->end() : function.start + 1;
      if (const CodeRange* range = range_at(function.start)) end = std::min(end, range->end);
      if (index + 1 < functions.size()) end = std::min(end, functions[index + 1].start);
      function.end = std::max(end, function.start + 1);
    }
  }

  // Stripped binaries keep their unwind information. Assembly has labels that are not marked as functions; where one
  // begins such a range, it names it.
  void add_those_without_symbol(std::vector<CodeSymbol>& functions, std::vector<FunctionSymbol>& symbols) const {
    std::vector<CodeSymbol> merged;
    std::vector<std::uint32_t> moved;  // old index -> new
    merged.reserve(functions.size() + ranges_.size());
    moved.reserve(functions.size());
    std::uint64_t covered = 0;
    std::size_t next = 0;
    const auto take_until = [&](std::uint64_t address) {
      for (; next < functions.size() && functions[next].start <= address; ++next) {
        covered = std::max(covered, functions[next].end);
        moved.push_back(static_cast<std::uint32_t>(merged.size()));
        merged.push_back(functions[next]);
      }
    };
    std::vector<FunctionSymbol> named;
    for (const CodeRange& range : ranges_) {
      take_until(range.start);
      if (range.start < covered || in_plt(range.start) || !image_.is_code(range.start)) continue;
      covered = range.end;
      const auto label = labels_.find(range.start);
      const std::string_view name = label != labels_.end() ? label->second : std::string_view();
      if (!name.empty()) named.push_back({name, static_cast<std::uint32_t>(merged.size()), Binding::local});
      merged.push_back({range.start, range.end, name, false});
    }
    take_until(~std::uint64_t{0});
    for (FunctionSymbol& symbol : symbols) symbol.function = moved[symbol.function];
    symbols.insert(symbols.end(), named.begin(), named.end());
    std::stable_sort(symbols.begin(), symbols.end(),
                     [](const auto& a, const auto& b) { return a.function < b.function; });
    functions = std::move(merged);
  }

  const ElfImage& image_;
  std::vector<CodeRange> plts_;
  std::vector<CodeRange> ranges_;  // by address
  std::vector<RawSymbol> found_;
  std::unordered_map<std::uint64_t, std::string_view> labels_;
};

}  // namespace

SymbolTable::SymbolTable(const ElfImage& image) {
  Builder builder(image);
  builder.collect_symbols();
  builder.build(functions_, symbols_);
}

const FunctionSymbol* SymbolTable::symbol(std::string_view linkage_name) const {
  if (by_name_.empty()) {
    by_name_.reserve(symbols_.size());
    for (std::uint32_t index = 0; index < symbols_.size(); ++index) {
      const auto [known, is_new] = by_name_.try_emplace(symbols_[index].name, index);
      if (!is_new && symbols_[index].binding < symbols_[known->second].binding) known->second = index;
    }
  }
  const auto found = by_name_.find(linkage_name);
  return found != by_name_.end() ? &symbols_[found->second] : nullptr;
}

const CodeSymbol* SymbolTable::starting_at(std::uint64_t address) const {
  const auto found =
      std::lower_bound(functions_.begin(), functions_.end(), address,
                       [](const CodeSymbol& function, std::uint64_t value) { return function.start < value; });
  return found != functions_.end() && found->start == address ? &*found : nullptr;
}

std::unordered_map<std::string_view, std::uint64_t> exported_functions(const ElfImage& image) {
  std::span<const Elf64_Versym> versions;
  for (const ElfImage::Section& section : image.sections()) {
    if (section.header.sh_type == SHT_GNU_versym) versions = section.entries<Elf64_Versym>();
  }
  constexpr Elf64_Versym hidden = 0x8000;  // kept for programs linked long ago: new references do not bind to it
  std::unordered_map<std::string_view, std::uint64_t> exported;
  for_each_dynamic_symbol(image, [&](const GElf_Sym& symbol, std::string_view name, std::size_t index) {
    if (index < versions.size() && (versions[index] & hidden) != 0) return;
    if (is_defined(symbol) && is_function(symbol) && binding_of(symbol) != Binding::local) {
      exported.try_emplace(without_version(name), symbol.st_value);
    }
  });
  return exported;
}

bool is_cold_part(std::string_view linkage_name) {
  constexpr std::string_view mark = ".cold";
  const std::size_t at = linkage_name.rfind(mark);
  if (at == std::string_view::npos || at == 0) return false;
  const std::string_view rest = linkage_name.substr(at + mark.size());
  return rest.empty() || (rest[0] == '.' && rest.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

}  // namespace flamb
