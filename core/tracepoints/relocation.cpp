#include "tracepoints/relocation.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "instruction.h"

namespace flamb {
namespace {

constexpr std::uint32_t word = 8;
constexpr std::size_t max_short_branch = 2 + 128;  // how far behind its target one with an 8-bit distance can end

const std::uint8_t* data(const FunctionCode& function) {
  return reinterpret_cast<const std::uint8_t*>(function.bytes.data());
}

std::optional<std::int32_t> distance(Address from, Address to) {
  const auto difference = static_cast<std::int64_t>(to - from);
  const auto result = static_cast<std::int32_t>(difference);
  return result == difference ? std::optional(result) : std::nullopt;
}

std::string text(const Instruction& instruction) {
  ZydisFormatter formatter;
  ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
  std::array<char, 96> buffer{};
  ZydisFormatterFormatInstruction(&formatter, &instruction.decoded, instruction.operands.data(),
                                  instruction.decoded.operand_count_visible, buffer.data(), buffer.size(),
                                  instruction.address, nullptr);
  return buffer.data();
}

bool is_callee_saved(std::uint8_t dwarf_register) {
  return dwarf_register == 3 || dwarf_register == 6 || dwarf_register >= 12;  // rbx, rbp, r12 to r15
}

// The number that DWARF gives the register that is pushed or popped, if a caller may expect to get it back.
std::optional<std::uint8_t> callee_saved_operand(const Instruction& instruction) {
  constexpr auto dwarf_numbers = std::to_array<std::uint8_t>({0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15});
  if (instruction.operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER) return std::nullopt;
  const auto reg = general_register(instruction.operands[0].reg.value);
  if (!reg) return std::nullopt;
  const std::uint8_t number = dwarf_numbers.at(static_cast<std::size_t>(*reg));
  return is_callee_saved(number) ? std::optional(number) : std::nullopt;
}

bool uses_stack_pointer(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER
             ? operand.reg.value == ZYDIS_REGISTER_RSP
             : operand.mem.base == ZYDIS_REGISTER_RSP || operand.mem.base == ZYDIS_REGISTER_ESP;
}

bool is_inside_patch(std::int64_t offset) { return offset > 0 && offset < static_cast<std::int64_t>(patch_size); }

// Is there an instruction at that offset? Also true where decoding does not get that far.
bool may_be_instruction(const FunctionCode& function, std::size_t offset) {
  Instruction instruction;
  std::size_t at = 0;
  while (at < offset && decode(data(function) + at, function.size - at, function.entry + at, instruction)) {
    at += instruction.decoded.length;
  }
  return at <= offset;
}

// Does the function itself branch into the bytes of a patch, behind the first? Decoding all of every function would
// take most of the time that there is: bytes that could be such a branch are looked for first.
bool branches_into_patch(const FunctionCode& function) {
  const std::uint8_t* const code = data(function);
  for (std::size_t at = 1; at + 4 <= function.size; ++at) {
    std::int32_t relative = 0;
    std::memcpy(&relative, code + at, sizeof relative);
    if (!is_inside_patch(static_cast<std::int64_t>(at) + 4 + relative)) continue;
    const std::uint8_t opcode = code[at - 1];
    const bool is_conditional = at >= 2 && code[at - 2] == 0x0F && opcode >> 4 == 8;
    // Nothing else has a distance of so few possible values, other than by rare chance.
    if (is_conditional || opcode == 0xE8 || opcode == 0xE9) return true;
  }
  for (std::size_t at = 0; at + 2 <= std::min(function.size, max_short_branch + patch_size); ++at) {
    if (!is_inside_patch(static_cast<std::int64_t>(at) + 2 + static_cast<std::int8_t>(code[at + 1]))) continue;
    const bool is_branch = code[at] >> 4 == 7 || code[at] == 0xEB || (code[at] >= 0xE0 && code[at] <= 0xE3);
    if (is_branch && may_be_instruction(function, at)) return true;
  }
  return false;
}

class Relocation {
 public:
  Relocation(const FunctionCode& function, Address to) : function_(function), to_(to) {}

  Result<Continuation> make();

 private:
  // Each is false where the instruction cannot be moved.
  bool move(const Instruction& instruction);
  bool copy(const Instruction& instruction);
  bool move_conditional(const Instruction& instruction);
  bool move_call(const Instruction& instruction);
  bool follow_stack(const Instruction& instruction);
  bool follow_shrinking(const Instruction& instruction, UnwindRow& row);
  bool jump(Address target) {
    put(0xE9);
    return put_distance(target);
  }

  // A function shorter than a patch must be followed by bytes that are nothing else's.
  bool is_padded() const;

  void put(std::uint8_t byte) { made_.code.push_back(byte); }
  template <class T>
  void put_value(T value) {
    for (const std::uint8_t byte : std::bit_cast<std::array<std::uint8_t, sizeof(T)>>(value)) put(byte);
  }
  bool put_distance(Address target) {
    const auto relative = distance(here() + sizeof(std::int32_t), target);
    if (relative) put_value(*relative);
    return relative.has_value();
  }
  Address here() const { return to_ + made_.code.size(); }
  tl::unexpected<Error> refuse(std::string reason) const { return fail(Fault::target, std::move(reason)); }

  const FunctionCode& function_;
  Address to_;
  Continuation made_;
  std::size_t read_ = 0;                   // bytes of the function
  bool is_over_ = false;                   // control does not run on behind what was read
  std::uint32_t distance_ = word;          // from the stack pointer to the canonical frame address
  std::array<std::uint32_t, 16> saved_{};  // where in the frame each register lies, 0 for those not pushed
};

Result<Continuation> Relocation::make() {
  const std::size_t usable = function_.bytes.size();
  if (usable < function_.size) return refuse("its code is not there whole");
  if (function_.size == 0 || usable < patch_size || !is_padded()) return refuse("it is too short");
  if (branches_into_patch(function_)) return refuse("a jump leads into its first bytes");
  Instruction instruction;
  while (read_ < patch_size && !is_over_) {
    if (!decode(data(function_) + read_, usable - read_, function_.entry + read_, instruction)) {
      return refuse("its first instructions cannot be decoded");
    }
    read_ += instruction.decoded.length;
    if (!move(instruction)) return refuse("its first instructions cannot be moved: " + text(instruction));
  }
  if (!is_over_ && !jump(function_.entry + read_)) return refuse("it is too far away");
  made_.replaced = std::max(read_, patch_size);
  return made_;
}

bool Relocation::is_padded() const {
  for (std::size_t at = function_.size; at < patch_size;) {
    const std::uint8_t byte = data(function_)[at];
    Instruction instruction;
    if (byte == 0 || byte == 0xCC) {
      ++at;
    } else if (decode(data(function_) + at, function_.bytes.size() - at, function_.entry + at, instruction) &&
               instruction.decoded.mnemonic == ZYDIS_MNEMONIC_NOP) {
      at += instruction.decoded.length;
    } else {
      return false;
    }
  }
  return true;
}

bool Relocation::move(const Instruction& instruction) {
  if (instruction.decoded.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) return false;
  switch (instruction.decoded.meta.category) {
    case ZYDIS_CATEGORY_COND_BR: return move_conditional(instruction);
    case ZYDIS_CATEGORY_CALL: return move_call(instruction);
    case ZYDIS_CATEGORY_UNCOND_BR:
      is_over_ = true;
      return instruction.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? jump(instruction.relative_target())
                                                                          : copy(instruction);
    case ZYDIS_CATEGORY_RET:
      is_over_ = true;
      return instruction.decoded.mnemonic == ZYDIS_MNEMONIC_RET && copy(instruction);
    default: break;
  }
  switch (instruction.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2: return false;  // what handles the trap may look where it was
    default: return copy(instruction) && follow_stack(instruction);
  }
}

bool Relocation::copy(const Instruction& instruction) {
  const std::size_t start = instruction.address - function_.entry;
  const std::size_t length = instruction.decoded.length;
  const std::uint8_t* const bytes = data(function_) + start;
  if ((instruction.decoded.attributes & ZYDIS_ATTRIB_IS_RELATIVE) == 0) {
    for (std::size_t at = 0; at < length; ++at) put(bytes[at]);
    return true;
  }
  const auto& displacement = instruction.decoded.raw.disp;
  if (displacement.size != 32 || instruction.decoded.address_width != 64) return false;
  const Address target = instruction.next() + static_cast<std::uint64_t>(displacement.value);
  const auto moved = distance(here() + length, target);
  if (!moved) return false;
  for (std::size_t at = 0; at < displacement.offset; ++at) put(bytes[at]);
  put_value(*moved);
  for (std::size_t at = displacement.offset + 4; at < length; ++at) put(bytes[at]);
  return true;
}

bool Relocation::move_conditional(const Instruction& instruction) {
  const std::uint8_t opcode = instruction.decoded.opcode;
  const bool is_short = instruction.decoded.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && opcode >> 4 == 7;
  const bool is_near = instruction.decoded.opcode_map == ZYDIS_OPCODE_MAP_0F && opcode >> 4 == 8;
  // Processors do not agree on what an operand-size prefix does to a jump.
  const bool has_size = (instruction.decoded.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) != 0;
  if ((!is_short && !is_near) || has_size) return false;
  put(0x0F);
  put(0x80 | (opcode & 0x0F));
  return put_distance(instruction.relative_target());
}

// The callee must find the genuine return address, for unwinders and for whoever asks where it was called from: it is
// pushed, and the call becomes a jump. So control comes back behind the patch.
bool Relocation::move_call(const Instruction& instruction) {
  const Address back = instruction.next();
  const ZydisDecodedOperand& operand = instruction.operands[0];
  const bool is_direct = operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  if (back < function_.entry + patch_size || (!is_direct && uses_stack_pointer(operand))) return false;
  is_over_ = true;
  put(0x68);  // push imm32, which makes 64 bits of them
  put_value(static_cast<std::uint32_t>(back));
  distance_ += word;
  made_.rows.push_back({static_cast<std::uint8_t>(made_.code.size()), UnwindRow::Change::none, 0, distance_});
  for (const std::uint8_t byte : {0xC7, 0x44, 0x24, 0x04}) put(byte);  // mov dword ptr [rsp + 4], imm32
  put_value(static_cast<std::uint32_t>(back >> 32));
  if (is_direct) return jump(instruction.relative_target());
  const std::size_t opcode_extension = made_.code.size() + instruction.decoded.raw.modrm.offset;
  if (!copy(instruction)) return false;
  made_.code[opcode_extension] = (made_.code[opcode_extension] & 0xC7) | 4U << 3;  // FF /2 is call, FF /4 jmp
  return true;
}

bool Relocation::follow_stack(const Instruction& instruction) {
  const auto change = stack_change(instruction);
  if (change == 0) return true;
  constexpr std::int64_t deepest = std::numeric_limits<std::int32_t>::max();
  const std::int64_t moved = distance_ - change.value_or(0);
  if (!change || moved % word != 0 || moved < word || moved > deepest) return false;
  distance_ = static_cast<std::uint32_t>(moved);
  UnwindRow row{static_cast<std::uint8_t>(made_.code.size()), UnwindRow::Change::none, 0, distance_};
  const auto reg = callee_saved_operand(instruction);
  if (instruction.decoded.mnemonic == ZYDIS_MNEMONIC_PUSH && reg && saved_.at(*reg) == 0) {
    saved_.at(*reg) = distance_;
    row.change = UnwindRow::Change::saved;
    row.dwarf_register = *reg;
  }
  if (*change > 0 && !follow_shrinking(instruction, row)) return false;
  made_.rows.push_back(row);
  return true;
}

// What the stack has let go of no longer holds a register: the pop must have been that register's own.
bool Relocation::follow_shrinking(const Instruction& instruction, UnwindRow& row) {
  const auto popped = instruction.decoded.mnemonic == ZYDIS_MNEMONIC_POP ? callee_saved_operand(instruction)
                                                                         : std::optional<std::uint8_t>();
  for (std::size_t reg = 0; reg < saved_.size(); ++reg) {
    if (saved_.at(reg) <= distance_) continue;
    if (popped != reg) return false;
    saved_.at(reg) = 0;
    row.change = UnwindRow::Change::restored;
    row.dwarf_register = static_cast<std::uint8_t>(reg);
  }
  return true;
}

}  // namespace

Result<Continuation> relocate(const FunctionCode& function, Address to) { return Relocation(function, to).make(); }

}  // namespace flamb
