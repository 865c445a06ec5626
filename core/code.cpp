#include "code.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "instruction.h"

namespace flamb {
namespace {

// Conditions beyond the sixteen of jcc.
enum : std::uint8_t { jrcxz = 16, loop, loope, loopne };

Transfer::Operand indirect_operand(const Instruction& instruction) {
  const ZydisDecodedOperand& operand = instruction.operands[0];
  Transfer::Operand result;
  if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
    result.base = general_register(operand.reg.value);
    return result;
  }
  result.is_memory = true;
  result.displacement = operand.mem.disp.has_displacement ? operand.mem.disp.value : 0;
  if (operand.mem.base == ZYDIS_REGISTER_RIP) {
    result.displacement += static_cast<std::int64_t>(instruction.next());
  } else {
    result.base = general_register(operand.mem.base);
  }
  result.index = general_register(operand.mem.index);
  result.scale = std::max<std::uint8_t>(operand.mem.scale, 1);
  return result;
}

std::uint8_t condition_code(const Instruction& instruction) {
  switch (instruction.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_JRCXZ: return jrcxz;
    case ZYDIS_MNEMONIC_LOOP: return loop;
    case ZYDIS_MNEMONIC_LOOPE: return loope;
    case ZYDIS_MNEMONIC_LOOPNE: return loopne;
    default: return instruction.decoded.opcode & 0x0F;
  }
}

// The transfer that an instruction is, or nothing if it runs on into the next one.
std::optional<Transfer> transfer_of(const Instruction& instruction) {
  Transfer transfer;
  transfer.address = instruction.address;
  transfer.next = instruction.next();
  switch (instruction.decoded.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      if (instruction.decoded.mnemonic == ZYDIS_MNEMONIC_XBEGIN) return std::nullopt;
      transfer.kind = Transfer::Kind::conditional;
      transfer.condition = condition_code(instruction);
      transfer.counts = transfer.condition > jrcxz;
      break;
    case ZYDIS_CATEGORY_UNCOND_BR: transfer.kind = Transfer::Kind::jump; break;
    case ZYDIS_CATEGORY_CALL: transfer.kind = Transfer::Kind::call; break;
    case ZYDIS_CATEGORY_RET:
      transfer.kind = Transfer::Kind::ret;
      if (instruction.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        transfer.pops = static_cast<std::uint16_t>(instruction.operands[0].imm.value.u);
      }
      return transfer;
    default:
      switch (instruction.decoded.mnemonic) {
        case ZYDIS_MNEMONIC_UD0:
        case ZYDIS_MNEMONIC_UD1:
        case ZYDIS_MNEMONIC_UD2:
        case ZYDIS_MNEMONIC_HLT:
        case ZYDIS_MNEMONIC_INT3: return transfer;
        default: return std::nullopt;
      }
  }
  transfer.is_direct = instruction.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  if (transfer.is_direct) {
    transfer.target = instruction.relative_target();
  } else {
    transfer.operand = indirect_operand(instruction);
  }
  return transfer;
}

// leave; mov rsp, rbp; lea rsp, [rbp - N]
bool sets_stack_from_frame_pointer(const Instruction& instruction) {
  const auto& [target, source] = std::tie(instruction.operands[0], instruction.operands[1]);
  switch (instruction.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_LEAVE: return true;
    case ZYDIS_MNEMONIC_MOV: return target.reg.value == ZYDIS_REGISTER_RSP && source.reg.value == ZYDIS_REGISTER_RBP;
    case ZYDIS_MNEMONIC_LEA:
      return target.reg.value == ZYDIS_REGISTER_RSP && source.mem.base == ZYDIS_REGISTER_RBP &&
             source.mem.index == ZYDIS_REGISTER_NONE;
    default: return false;
  }
}

// The word that the instruction writes, relative to the stack pointer, if it is one at a fixed distance.
std::optional<std::int64_t> written_stack_word(const Instruction& instruction) {
  const auto end = instruction.operands.begin() + instruction.decoded.operand_count_visible;
  const auto written = std::find_if(instruction.operands.begin(), end, [](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RSP &&
           operand.mem.index == ZYDIS_REGISTER_NONE && (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  });
  if (written == end) return std::nullopt;
  return written->mem.disp.has_displacement ? written->mem.disp.value : 0;
}

// Does the instruction load from memory with a scaled index: the read of a jump table?
bool reads_table(const Instruction& instruction) {
  const auto mnemonic = instruction.decoded.mnemonic;
  if (mnemonic != ZYDIS_MNEMONIC_MOV && mnemonic != ZYDIS_MNEMONIC_MOVSXD && mnemonic != ZYDIS_MNEMONIC_ADD)
    return false;
  const ZydisDecodedOperand& source = instruction.operands[1];
  return source.type == ZYDIS_OPERAND_TYPE_MEMORY && source.mem.index != ZYDIS_REGISTER_NONE && source.mem.scale >= 4;
}

bool loads_stack_pointer(const Instruction& instruction) {
  const auto& [target, source] = std::tie(instruction.operands[0], instruction.operands[1]);
  return instruction.decoded.mnemonic == ZYDIS_MNEMONIC_MOV && target.type == ZYDIS_OPERAND_TYPE_REGISTER &&
         target.reg.value == ZYDIS_REGISTER_RSP && source.type == ZYDIS_OPERAND_TYPE_REGISTER &&
         source.reg.value != ZYDIS_REGISTER_RBP;
}

std::optional<Address> taken_address(const Instruction& instruction) {
  const ZydisDecodedOperand& source = instruction.operands[1];
  if (instruction.decoded.mnemonic == ZYDIS_MNEMONIC_LEA && source.mem.base == ZYDIS_REGISTER_RIP) {
    return instruction.next() + static_cast<std::uint64_t>(source.mem.disp.value);
  }
  if (instruction.decoded.mnemonic == ZYDIS_MNEMONIC_MOV && source.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    return source.imm.value.u;
  }
  return std::nullopt;
}

// The sixteen conditions in the order of their codes, over the flags register (Intel SDM, volume 1, appendix B).
bool holds(std::uint8_t condition, std::uint64_t flags) {
  const bool carry = (flags & 1U << 0) != 0;
  const bool parity = (flags & 1U << 2) != 0;
  const bool zero = (flags & 1U << 6) != 0;
  const bool sign = (flags & 1U << 7) != 0;
  const bool overflow = (flags & 1U << 11) != 0;
  bool result = false;
  switch (condition >> 1) {
    case 0: result = overflow; break;
    case 1: result = carry; break;
    case 2: result = zero; break;
    case 3: result = carry || zero; break;
    case 4: result = sign; break;
    case 5: result = parity; break;
    case 6: result = sign != overflow; break;
    default: result = zero || sign != overflow; break;
  }
  return result != ((condition & 1) != 0);
}

}  // namespace

Result<std::uint64_t> read_word(Debugger& debugger, Address from) {
  std::uint64_t word = 0;
  const auto read = debugger.read_memory(from, std::as_writable_bytes(std::span(&word, 1)));
  if (!read) return tl::unexpected(read.error());
  return word;
}

const Block& Code::block(Address start) {
  const auto found = blocks_.find(start);
  return found != blocks_.end() ? found->second : blocks_.emplace(start, decode_block(start)).first->second;
}

Block Code::decode_block(Address start) {
  Block block;
  block.start = start;
  block.stack_change = 0;
  std::vector<std::int64_t> written;  // words on the stack, relative to the stack pointer at the start
  std::array<std::uint8_t, max_instruction_length> text;
  Instruction instruction;
  for (Address address = start;; address = instruction.next()) {
    block.instructions.push_back(address);
    const std::size_t size = bytes(address, text.data());
    if (!decode(text.data(), size, address, instruction)) {
      block.end.address = address;
      block.end.next = address;
      return block;
    }
    if (const auto transfer = transfer_of(instruction)) {
      block.end = *transfer;
      block.writes_return_address =
          block.stack_change && std::find(written.begin(), written.end(), *block.stack_change) != written.end();
      return block;
    }
    if (const auto word = written_stack_word(instruction)) written.push_back(block.stack_change.value_or(0) + *word);
    const auto change = stack_change(instruction);
    if (!change) block.restores_stack = sets_stack_from_frame_pointer(instruction);
    if (block.stack_change && change) {
      *block.stack_change += *change;
    } else {
      block.stack_change.reset();
    }
  }
}

References Code::references(Address start, Address end) { return sweep(start, end, false); }

References Code::references_until_return(Address start, std::size_t limit) { return sweep(start, start + limit, true); }

References Code::sweep(Address start, Address end, bool to_return) {
  References result;
  std::array<std::uint8_t, max_instruction_length> text;
  Instruction instruction;
  constexpr int near = 8;  // instructions
  int since_table = near;
  int since_stack_switch = near;
  for (Address address = start; address < end;) {
    const std::size_t size = bytes(address, text.data());
    if (!decode(text.data(), size, address, instruction)) {
      ++address;
      continue;
    }
    since_table = reads_table(instruction) ? 0 : since_table + 1;
    since_stack_switch = loads_stack_pointer(instruction) ? 0 : since_stack_switch + 1;
    if (const auto taken = taken_address(instruction)) result.addresses.push_back(*taken);
    if (auto transfer = transfer_of(instruction)) {
      const bool stays = transfer->is_direct && transfer->kind != Transfer::Kind::call && transfer->target >= start &&
                         transfer->target < end && transfer->target != start;
      const bool goes = transfer->kind != Transfer::Kind::ret && transfer->kind != Transfer::Kind::none;
      transfer->is_switch = transfer->kind == Transfer::Kind::jump && !transfer->is_direct &&
                            (transfer->operand.index.has_value() || since_table < near);
      transfer->follows_stack_switch = since_stack_switch < near;
      if (to_return && transfer->kind == Transfer::Kind::ret) break;
      if (goes && !stays) result.transfers.push_back(*transfer);
    }
    address = instruction.next();
  }
  return result;
}

std::optional<Transfer> Code::register_jump(Address from, std::size_t limit) {
  for (const Transfer& transfer : references(from, from + limit).transfers) {
    if (transfer.kind == Transfer::Kind::jump && !transfer.is_direct && !transfer.operand.is_memory) return transfer;
  }
  return std::nullopt;
}

Result<Address> Code::destination(const Transfer& transfer, ThreadId thread) {
  switch (transfer.kind) {
    case Transfer::Kind::jump:
    case Transfer::Kind::call:
      if (transfer.is_direct) return transfer.target;
      return operand_value(transfer.operand, thread);
    case Transfer::Kind::conditional: {
      const auto taken = is_taken(transfer, thread);
      if (!taken) return tl::unexpected(taken.error());
      return *taken ? transfer.target : transfer.next;
    }
    case Transfer::Kind::ret: {
      const auto stack = debugger_.read_register(thread, Register::rsp);
      if (!stack) return tl::unexpected(stack.error());
      return read_word(debugger_, *stack);
    }
    case Transfer::Kind::none: break;
  }
  return transfer.next;
}

Result<std::uint64_t> Code::operand_value(const Transfer::Operand& operand, ThreadId thread) {
  std::uint64_t value = static_cast<std::uint64_t>(operand.displacement);
  if (operand.base) {
    const auto base = debugger_.read_register(thread, *operand.base);
    if (!base) return base;
    value += *base;
  }
  if (operand.index) {
    const auto index = debugger_.read_register(thread, *operand.index);
    if (!index) return index;
    value += *index * operand.scale;
  }
  return operand.is_memory ? read_word(debugger_, value) : Result<std::uint64_t>(value);
}

Result<bool> Code::is_taken(const Transfer& transfer, ThreadId thread) {
  const auto read = [&](Register which) { return debugger_.read_register(thread, which); };
  if (transfer.condition < jrcxz) {
    return read(Register::rflags).map([&](std::uint64_t flags) { return holds(transfer.condition, flags); });
  }
  const auto count = read(Register::rcx);
  if (!count) return tl::unexpected(count.error());
  if (transfer.condition == jrcxz) return *count == 0;
  if (transfer.condition == loop) return *count != 1;
  constexpr std::uint8_t equal = 4;
  constexpr std::uint8_t not_equal = 5;
  return read(Register::rflags).map([&](std::uint64_t flags) {
    return *count != 1 && holds(transfer.condition == loope ? equal : not_equal, flags);
  });
}

std::optional<Interruption> Code::interruption(Address slot, Address return_address) {
  // mov $15, %rax; syscall: what every debugger knows a signal frame by.
  static constexpr std::array<std::uint8_t, 9> sigreturn = {0x48, 0xC7, 0xC0, 0x0F, 0x00, 0x00, 0x00, 0x0F, 0x05};
  std::array<std::uint8_t, max_instruction_length> text;
  if (bytes(return_address, text.data()) < sigreturn.size()) return std::nullopt;
  if (!std::equal(sigreturn.begin(), sigreturn.end(), text.begin())) return std::nullopt;
  // struct rt_sigframe { char* pretcode; struct ucontext uc; ... }: the registers begin 40 bytes into the context, rsp
  // and rip being the sixteenth and the seventeenth (Linux, arch/x86/include/uapi/asm/sigcontext.h).
  constexpr Address registers = sizeof(Address) + 40;
  const auto stack = read_word(debugger_, slot + registers + 15 * sizeof(Address));
  const auto pc = read_word(debugger_, slot + registers + 16 * sizeof(Address));
  if (!stack || !pc) return std::nullopt;
  return Interruption{*pc, *stack};
}

// Null where nothing can be read: a library may be mapped there later.
const Code::Page* Code::page(Address address) {
  const auto found = pages_.find(address);
  if (found != pages_.end()) return &found->second;
  Page read(page_size);
  if (!debugger_.read_memory(address, read)) return nullptr;
  return &pages_.emplace(address, std::move(read)).first->second;
}

std::size_t Code::bytes(Address address, std::uint8_t* into) {
  std::size_t size = 0;
  while (size < max_instruction_length) {
    const Address from = address + size;
    const Page* source = page(from & ~(page_size - 1));
    if (source == nullptr) break;
    const std::size_t offset = from & (page_size - 1);
    const std::size_t count = std::min(max_instruction_length - size, page_size - offset);
    std::memcpy(into + size, source->data() + offset, count);
    size += count;
  }
  return size;
}

}  // namespace flamb
