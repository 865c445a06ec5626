#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "debugger.h"

// One x86-64 instruction, decoded by Zydis. For the core's own sources: nothing outside needs Zydis.
namespace flamb {

constexpr std::size_t max_instruction_length = ZYDIS_MAX_INSTRUCTION_LENGTH;

struct Instruction {
  ZydisDecodedInstruction decoded;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
  Address address = 0;

  Address next() const { return address + decoded.length; }
  Address relative_target() const { return next() + static_cast<std::uint64_t>(operands[0].imm.value.s); }
};

// False where the bytes are no instruction, or not a whole one.
bool decode(const std::uint8_t* bytes, std::size_t size, Address address, Instruction& into);

// Nothing for parts of registers and registers of other kinds.
std::optional<Register> general_register(ZydisRegister reg);

// What an instruction adds to the stack pointer; nothing if its text alone does not say.
std::optional<std::int64_t> stack_change(const Instruction& instruction);

}  // namespace flamb
