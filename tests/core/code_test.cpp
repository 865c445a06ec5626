#include "code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "one_thread.h"

namespace flamb {
namespace {

using testing::ElementsAre;

class CodeTest : public testing::Test {
 protected:
  Address destination(std::initializer_list<int> bytes) {
    debugger.put(text, bytes);
    code.forget();
    const auto result = code.destination(code.block(text).end, thread);
    return result ? *result : 0;
  }

  OneThread debugger;
  Code code{debugger};
};

TEST_F(CodeTest, ABlockEndsAtItsTransfer) {
  debugger.put(text, {0x55, 0x48, 0x89, 0xE5, 0x74, 0x10});  // push rbp; mov rbp, rsp; je +16
  const Block& block = code.block(text);
  EXPECT_THAT(block.instructions, ElementsAre(text, text + 1, text + 4));
  EXPECT_EQ(block.end.kind, Transfer::Kind::conditional);
  EXPECT_EQ(block.end.target, text + 6 + 16);
  EXPECT_EQ(block.stack_change, -8);
}

TEST_F(CodeTest, KnowsWhatTheTextSaysOfTheStackPointer) {
  debugger.put(text, {0x48, 0x83, 0xEC, 0x18, 0x57, 0x5F, 0x48, 0x83, 0xC4, 0x18, 0xC3});
  debugger.put(text + 0x100, {0x48, 0x83, 0xE4, 0xF0, 0xC3});
  debugger.put(text + 0x200, {0xC9, 0xC3});
  EXPECT_EQ(code.block(text).stack_change, 0) << "sub rsp, 24; push rdi; pop rdi; add rsp, 24; ret";
  EXPECT_FALSE(code.block(text + 0x100).stack_change) << "and rsp, -16; ret";
  EXPECT_FALSE(code.block(text + 0x200).stack_change) << "leave; ret";
}

TEST_F(CodeTest, KnowsAStackPointerTakenFromTheFramePointer) {
  debugger.put(text, {0xC9, 0xC3});
  debugger.put(text + 0x100, {0x48, 0x8D, 0x65, 0xF8, 0x5B, 0x5D, 0xC3});
  debugger.put(text + 0x200, {0x48, 0x89, 0xEC, 0x48, 0x89, 0xCC, 0xC3});
  EXPECT_TRUE(code.block(text).restores_stack) << "leave; ret";
  EXPECT_TRUE(code.block(text + 0x100).restores_stack) << "lea rsp, [rbp - 8]; pop rbx; pop rbp; ret";
  EXPECT_FALSE(code.block(text + 0x200).restores_stack) << "mov rsp, rbp; mov rsp, rcx; ret";
}

TEST_F(CodeTest, SeesAReturnAddressBeingWritten) {
  debugger.put(text, {0x48, 0x89, 0x04, 0x24, 0xC3});
  debugger.put(text + 0x100, {0x53, 0x48, 0x89, 0x44, 0x24, 0x08, 0x5B, 0xC3});
  debugger.put(text + 0x200, {0x48, 0x89, 0x44, 0x24, 0xF8, 0xC3});
  EXPECT_TRUE(code.block(text).writes_return_address) << "mov [rsp], rax; ret: a retpoline";
  EXPECT_TRUE(code.block(text + 0x100).writes_return_address) << "push rbx; mov [rsp + 8], rax; pop rbx; ret";
  EXPECT_FALSE(code.block(text + 0x200).writes_return_address) << "mov [rsp - 8], rax; ret";
}

TEST_F(CodeTest, ABlockEndsWhereNothingCanBeRead) {
  debugger.put(data + 0xFFE, {0x90, 0x90});
  const Block& block = code.block(data + 0xFFE);
  EXPECT_EQ(block.end.kind, Transfer::Kind::none);
  EXPECT_EQ(block.end.address, data + 0x1000);
}

TEST_F(CodeTest, EveryConditionFollowsTheFlags) {
  struct Case {
    int opcode;
    std::uint64_t flags;
    bool taken;
  };
  constexpr std::uint64_t carry = 1U << 0, parity = 1U << 2, zero = 1U << 6, sign = 1U << 7, overflow = 1U << 11;
  for (const Case& each : std::initializer_list<Case>{{0x70, overflow, true},
                                                      {0x71, overflow, false},
                                                      {0x72, carry, true},
                                                      {0x73, carry, false},
                                                      {0x74, zero, true},
                                                      {0x75, zero, false},
                                                      {0x76, carry, true},
                                                      {0x76, zero, true},
                                                      {0x77, 0, true},
                                                      {0x77, zero, false},
                                                      {0x78, sign, true},
                                                      {0x79, sign, false},
                                                      {0x7A, parity, true},
                                                      {0x7B, parity, false},
                                                      {0x7C, sign, true},
                                                      {0x7C, sign | overflow, false},
                                                      {0x7D, sign | overflow, true},
                                                      {0x7E, zero, true},
                                                      {0x7E, sign, true},
                                                      {0x7F, 0, true},
                                                      {0x7F, zero, false},
                                                      {0x7F, overflow, false}}) {
    debugger.registers[Register::rflags] = each.flags;
    EXPECT_EQ(destination({each.opcode, 0x10}), each.taken ? text + 18 : text + 2)
        << "opcode " << each.opcode << ", flags " << each.flags;
  }
}

TEST_F(CodeTest, LoopsFollowTheCounter) {
  debugger.registers[Register::rcx] = 1;
  EXPECT_EQ(destination({0xE2, 0x10}), text + 2) << "loop";
  debugger.registers[Register::rcx] = 2;
  EXPECT_EQ(destination({0xE2, 0x10}), text + 18) << "loop";
  EXPECT_EQ(destination({0xE3, 0x10}), text + 2) << "jrcxz";
  debugger.registers[Register::rcx] = 0;
  EXPECT_EQ(destination({0xE3, 0x10}), text + 18) << "jrcxz";
}

TEST_F(CodeTest, IndirectTransfersReadTheirOperand) {
  debugger.registers[Register::rax] = 0x1234;
  debugger.registers[Register::rbx] = data;
  debugger.registers[Register::rcx] = 2;
  debugger.registers[Register::r9] = 0x5678;
  debugger.put_word(data + 0x20, 0xAAAA);
  debugger.put_word(data + 0x10, 0xBBBB);
  EXPECT_EQ(destination({0xFF, 0xD0}), 0x1234u) << "call rax";
  EXPECT_EQ(destination({0x41, 0xFF, 0xE1}), 0x5678u) << "jmp r9";
  EXPECT_EQ(destination({0xFF, 0x53, 0x20}), 0xAAAAu) << "call [rbx + 32]";
  EXPECT_EQ(destination({0xFF, 0x24, 0xCB}), 0xBBBBu) << "jmp [rbx + rcx * 8]";
  EXPECT_EQ(destination({0xFF, 0x25, 0x1A, 0x10, 0x00, 0x00}), 0xAAAAu) << "jmp [rip + 0x101a]";
  debugger.registers[Register::rsp] = data + 0x10;
  EXPECT_EQ(destination({0xC3}), 0xBBBBu) << "ret";
}

TEST_F(CodeTest, ListsWhatAFunctionRefersTo) {
  // lea rdi, [rip + 0x100]; call +0x20; jne start + 2 (within); jmp rax; ret; jmp start
  debugger.put(text, {0x48, 0x8D, 0x3D, 0x00, 0x01, 0x00, 0x00, 0xE8, 0x20, 0x00, 0x00, 0x00, 0x75, 0xF4, 0xFF, 0xE0,
                      0xC3, 0xEB, 0xED});
  const References references = code.references(text, text + 19);
  EXPECT_THAT(references.addresses, ElementsAre(text + 7 + 0x100));
  ASSERT_EQ(references.transfers.size(), 3u);
  EXPECT_EQ(references.transfers[0].target, text + 12 + 0x20);
  EXPECT_FALSE(references.transfers[1].is_direct);
  EXPECT_EQ(references.transfers[2].target, text) << "a loop to the first instruction looks like a call";
}

TEST_F(CodeTest, TellsASwitchFromATailCall) {
  // movsxd rax, [rdx + rdi * 4]; add rax, rdx; jmp rax
  debugger.put(text, {0x48, 0x63, 0x04, 0xBA, 0x48, 0x01, 0xD0, 0xFF, 0xE0});
  // mov rax, [rdi]; jmp rax
  debugger.put(text + 0x100, {0x48, 0x8B, 0x07, 0xFF, 0xE0});
  EXPECT_TRUE(code.references(text, text + 9).transfers.at(0).is_switch);
  EXPECT_FALSE(code.references(text + 0x100, text + 0x105).transfers.at(0).is_switch);
}

TEST_F(CodeTest, FindsTheJumpThroughARegister) {
  debugger.put(text, {0x90, 0xFF, 0x25, 0, 0, 0, 0, 0xF2, 0x41, 0xFF, 0xE3});  // nop; jmp [rip]; bnd jmp r11
  const auto jump = code.register_jump(text, 64);
  ASSERT_TRUE(jump);
  EXPECT_EQ(jump->address, text + 7);
}

}  // namespace
}  // namespace flamb
