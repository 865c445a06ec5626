#include "lldb_signal_returns.h"

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace flamb {

namespace {

// mov $15, %rax; syscall: rt_sigreturn, as glibc and musl have it, and as unwinders look for it (libgcc's
// config/i386/linux-unwind.h).
constexpr std::array<std::uint8_t, 9> kSignalReturn{0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};

// A C library, or a program that holds its own.
bool may_return_from_signals(lldb::SBModule& module) {
  const char* name = module.GetFileSpec().GetFilename();
  const std::string_view file = name ? name : "";
  if (file.starts_with("libc.") || file.starts_with("libc-") || file.starts_with("ld-musl")) return true;
  return file.find(".so") == file.npos && !module.FindSection(".interp").IsValid();
}

std::vector<std::uint8_t> contents(lldb::SBSection& section) {
  lldb::SBData data = section.GetSectionData();
  std::vector<std::uint8_t> bytes(data.GetByteSize());
  lldb::SBError error;
  bytes.resize(data.ReadRawData(error, 0, bytes.data(), bytes.size()));
  return bytes;
}

}  // namespace

void SignalReturns::watch() {
  const std::uint32_t count = target_.GetNumModules();
  if (count == modules_) return;
  bool are_all_loaded = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    lldb::SBModule module = target_.GetModuleAtIndex(i);
    if (may_return_from_signals(module)) are_all_loaded &= watch(module);
  }
  if (are_all_loaded) modules_ = count;
}

bool SignalReturns::watch(lldb::SBModule& module) {
  lldb::SBSection text = module.FindSection(".text");
  const Address start = text.GetLoadAddress(target_);
  if (start == LLDB_INVALID_ADDRESS) return !text.IsValid();
  if (!watched_.insert(start).second) return true;
  const std::vector<std::uint8_t> bytes = contents(text);
  for (auto at = bytes.begin();; ++at) {
    at = std::search(at, bytes.end(), kSignalReturn.begin(), kSignalReturn.end());
    if (at == bytes.end()) return true;
    // One that cannot be watched costs a hit told twice, now and then.
    std::ignore = breakpoints_.add(start + static_cast<Address>(at - bytes.begin()), [this](ThreadId thread) {
      returns(thread);
      return Verdict::go_on;
    });
  }
}

// What the kernel will put back is on the stack, as a ucontext_t.
void SignalReturns::returns(ThreadId thread) {
  lldb::SBFrame* frame = breakpoints_.current_frame(thread);
  if (frame == nullptr) return;
  std::array<greg_t, NGREG> registers{};
  lldb::SBError error;
  const Address saved = frame->GetSP() + offsetof(ucontext_t, uc_mcontext.gregs);
  target_.GetProcess().ReadMemory(saved, registers.data(), sizeof registers, error);
  if (error.Fail()) return;
  breakpoints_.comes_back(thread, static_cast<Address>(registers[REG_RIP]), static_cast<Address>(registers[REG_RSP]));
}

}  // namespace flamb
