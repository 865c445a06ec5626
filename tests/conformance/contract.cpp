#include "contract.h"

#include <elf.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "contract_checks.h"

namespace flamb::contract {

namespace {

std::vector<Check> all_checks() {
  std::vector<Check> all;
  for (const auto part : {run_checks(), stop_checks(), call_checks(), step_checks()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

template <class T>
T read_at(const std::vector<char>& file, std::size_t offset) {
  T value{};
  if (offset + sizeof value <= file.size()) std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

}  // namespace

std::span<const Check> checks() {
  static const std::vector<Check> all = all_checks();
  return all;
}

std::string run(Host& host, std::string_view name) {
  for (const Check& check : checks()) {
    if (check.name != name) continue;
    Report report;
    check.run(host, report);
    return report.text();
  }
  return fmt::format("there is no check named '{}'\n", name);
}

std::string_view to_string(Stop::Kind kind) {
  static constexpr std::array<std::string_view, 9> kNames{"requested", "modules", "user", "signal", "interrupted",
                                                          "exited",    "killed",  "exec", "lost"};
  return kNames.at(static_cast<std::size_t>(kind));
}

bool Report::stopped(const Result<Stop>& stop, Stop::Kind kind, std::string_view what) {
  if (!holds(stop, what)) return false;
  if (stop->kind == kind) return true;
  fail(fmt::format("{}: expected a stop of kind {}, got {} (code {}, '{}')", what, to_string(kind),
                   to_string(stop->kind), stop->code, stop->description));
  return false;
}

Symbols Symbols::read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> file{std::istreambuf_iterator<char>(in), {}};
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  Symbols result;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto section = read_at<Elf64_Shdr>(file, header.e_shoff + i * header.e_shentsize);
    if (section.sh_type != SHT_SYMTAB) continue;
    const auto strings = read_at<Elf64_Shdr>(file, header.e_shoff + section.sh_link * header.e_shentsize);
    for (std::size_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read_at<Elf64_Sym>(file, section.sh_offset + at);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
      result.symbols_[file.data() + strings.sh_offset + symbol.st_name] = {symbol.st_value, symbol.st_size};
    }
  }
  return result;
}

Address Symbols::at(std::string_view name, Address bias) const {
  const auto found = symbols_.find(name);
  return found == symbols_.end() ? 0 : found->second.address + bias;
}

bool Symbols::within(Address address, std::string_view name, Address bias) const {
  const auto found = symbols_.find(name);
  return found != symbols_.end() && address - bias - found->second.address < found->second.size;
}

Program::Program(Host& host, Report& report) : debugger_(host.debugger), report_(report) {
  launched_ = report.stopped(debugger_.launch(), Stop::Kind::requested, "launch");
  const auto modules = debugger_.modules();
  if (!report.holds(modules, "modules after the launch")) return;
  for (const Module& module : *modules) {
    if (!module.is_program) continue;
    symbols_ = Symbols::read(module.path);
    bias_ = module.load_bias;
    return;
  }
  report.fail("modules after the launch: none is the program");
}

bool Program::run_to_ready() {
  const auto breakpoint = debugger_.set_breakpoint(at("ready"), [](ThreadId) { return Verdict::stop; });
  if (!report_.holds(breakpoint, "breakpoint at ready")) return false;
  const bool there = report_.stopped(resume(), Stop::Kind::requested, "run to ready");
  debugger_.remove_breakpoint(*breakpoint);
  return there;
}

Result<Stop> Program::resume() {
  for (;;) {
    auto stop = debugger_.resume();
    if (!stop || stop->kind != Stop::Kind::modules) return stop;
  }
}

Result<Address> Program::return_address(ThreadId thread) const {
  const auto sp = debugger_.read_register(thread, Register::rsp);
  return sp ? read_word(debugger_, *sp) : sp;
}

Result<std::uint64_t> read_word(Debugger& debugger, Address from) {
  std::uint64_t word = 0;
  const auto done = debugger.read_memory(from, std::as_writable_bytes(std::span(&word, 1)));
  if (!done) return tl::unexpected<Error>(done.error());
  return word;
}

}  // namespace flamb::contract
