#include "instruction.h"

#include <algorithm>

namespace flamb {
namespace {

ZydisDecoder make_decoder() {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  return decoder;
}

bool writes_stack_pointer(const Instruction& instruction) {
  const auto end = instruction.operands.begin() + instruction.decoded.operand_count;
  return std::any_of(instruction.operands.begin(), end, [](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value == ZYDIS_REGISTER_RSP &&
           (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  });
}

}  // namespace

bool decode(const std::uint8_t* bytes, std::size_t size, Address address, Instruction& into) {
  static const ZydisDecoder decoder = make_decoder();
  into.address = address;
  return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &into.decoded, into.operands.data()));
}

std::optional<Register> general_register(ZydisRegister reg) {
  if (reg < ZYDIS_REGISTER_RAX || reg > ZYDIS_REGISTER_R15) return std::nullopt;
  return static_cast<Register>(reg - ZYDIS_REGISTER_RAX);
}

std::optional<std::int64_t> stack_change(const Instruction& instruction) {
  if (!writes_stack_pointer(instruction)) return 0;
  const std::int64_t width = instruction.decoded.operand_width / 8;
  const ZydisDecodedOperand& second = instruction.operands[1];
  const bool has_immediate = second.type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  switch (instruction.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_PUSHFQ: return -width;
    case ZYDIS_MNEMONIC_POP:
      if (instruction.operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
          instruction.operands[0].reg.value == ZYDIS_REGISTER_RSP) {
        return std::nullopt;
      }
      return width;
    case ZYDIS_MNEMONIC_POPFQ: return width;
    case ZYDIS_MNEMONIC_SUB:
      if (has_immediate) return -second.imm.value.s;
      return std::nullopt;
    case ZYDIS_MNEMONIC_ADD:
      if (has_immediate) return second.imm.value.s;
      return std::nullopt;
    case ZYDIS_MNEMONIC_LEA:
      if (second.mem.base == ZYDIS_REGISTER_RSP && second.mem.index == ZYDIS_REGISTER_NONE)
        return second.mem.disp.value;
      return std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace flamb
