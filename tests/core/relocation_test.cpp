#include "tracepoints/relocation.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace flamb {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

constexpr Address entry = 0x7F12'3456'7000;
constexpr Address there = entry + 0x1000;

Result<Continuation> relocated(std::vector<std::uint8_t> bytes, std::optional<std::size_t> size = {},
                               Address to = there) {
  return relocate({entry, size.value_or(bytes.size()), std::as_bytes(std::span(bytes))}, to);
}

// As one line, so that a difference reads well: the code, and behind it how many bytes it stands for.
std::string moved(std::vector<std::uint8_t> bytes, std::optional<std::size_t> size = {}, Address to = there) {
  const auto result = relocated(std::move(bytes), size, to);
  if (!result) return result.error().message;
  std::string text;
  for (const std::uint8_t byte : result->code) text += fmt::format("{:02X} ", byte);
  return text + fmt::format("for {}", result->replaced);
}

std::vector<std::string> rows(std::vector<std::uint8_t> bytes) {
  std::vector<std::string> result;
  const auto continuation = relocated(std::move(bytes));
  if (!continuation) return {continuation.error().message};
  for (const UnwindRow& row : continuation->rows) {
    const char* const change = row.change == UnwindRow::Change::saved      ? " saved "
                               : row.change == UnwindRow::Change::restored ? " restored "
                                                                           : "";
    result.push_back(fmt::format("{}: {}{}{}", row.offset, row.cfa_distance, change,
                                 *change == 0 ? "" : std::to_string(row.dwarf_register)));
  }
  return result;
}

TEST(Relocation, CopiesWholeInstructionsAndJumpsBack) {
  // push rbp; mov rbp, rsp; mov eax, 1; ret
  EXPECT_EQ(moved({0x55, 0x48, 0x89, 0xE5, 0xB8, 1, 0, 0, 0, 0xC3}), "55 48 89 E5 B8 01 00 00 00 E9 FB EF FF FF for 9");
  // endbr64; push rbx; push rbx
  EXPECT_EQ(moved({0xF3, 0x0F, 0x1E, 0xFA, 0x53, 0x53}), "F3 0F 1E FA 53 E9 FB EF FF FF for 5");
}

TEST(Relocation, KeepsWhatRipRelativeOperandsMean) {
  // mov rax, [rip + 0x2000]
  EXPECT_EQ(moved({0x48, 0x8B, 0x05, 0, 0x20, 0, 0, 0xC3}), "48 8B 05 00 10 00 00 E9 FB EF FF FF for 7");
  // cmp dword ptr [rip + 0x2000], 7: the immediate follows the displacement
  EXPECT_EQ(moved({0x83, 0x3D, 0, 0x20, 0, 0, 7, 0xC3}), "83 3D 00 10 00 00 07 E9 FB EF FF FF for 7");
  EXPECT_THAT(moved({0x48, 0x8B, 0x05, 0, 0x20, 0, 0, 0xC3}, {}, entry + (2ULL << 30) + 0x3000),
              StartsWith("its first instructions cannot be moved: mov rax, [0x"))
      << "too far from its operand";
}

TEST(Relocation, IsTooFarFromTheFunction) {
  EXPECT_EQ(moved({0xB8, 0, 0, 0, 0, 0xC3}, {}, entry + (3ULL << 30)), "it is too far away");
}

TEST(Relocation, MakesACallAJumpWithTheGenuineReturnAddress) {
  // call +0x100: push low half; mov high half; jmp
  EXPECT_EQ(moved({0xE8, 0, 1, 0, 0, 0xC3}), "68 05 70 56 34 C7 44 24 04 12 7F 00 00 E9 F3 F0 FF FF for 5");
  // sub rsp, 8; call [rip + 0x2000]
  EXPECT_EQ(moved({0x48, 0x83, 0xEC, 8, 0xFF, 0x15, 0, 0x20, 0, 0, 0xC3}),
            "48 83 EC 08 68 0A 70 56 34 C7 44 24 04 12 7F 00 00 FF 25 F3 0F 00 00 for 10");
  // push rbx; mov rbx, rdi; call rax: with the return address, and no jump back
  EXPECT_EQ(moved({0x53, 0x48, 0x89, 0xFB, 0xFF, 0xD0, 0xC3}),
            "53 48 89 FB 68 06 70 56 34 C7 44 24 04 12 7F 00 00 FF E0 for 6");
  // sub rsp, 8; notrack call [r12 + 8]
  EXPECT_EQ(moved({0x48, 0x83, 0xEC, 8, 0x3E, 0x41, 0xFF, 0x54, 0x24, 8, 0xC3}),
            "48 83 EC 08 68 0A 70 56 34 C7 44 24 04 12 7F 00 00 3E 41 FF 64 24 08 for 10");
}

TEST(Relocation, RefusesCallsThatItCannotMove) {
  EXPECT_EQ(moved({0xFF, 0xD0, 0x90, 0x90, 0x90, 0xC3}), "its first instructions cannot be moved: call rax")
      << "it returns into the patch";
  EXPECT_EQ(moved({0x48, 0x83, 0xEC, 8, 0xFF, 0x54, 0x24, 8, 0xC3}),
            "its first instructions cannot be moved: call [rsp+0x08]");
  EXPECT_EQ(moved({0x48, 0x83, 0xEC, 8, 0xFF, 0xD4, 0xC3}), "its first instructions cannot be moved: call rsp");
  EXPECT_THAT(moved({0x48, 0x83, 0xEC, 8, 0xFF, 0x5F, 8, 0xC3}), StartsWith("its first instructions cannot be moved"))
      << "a far call";
}

TEST(Relocation, LeadsJumpsToWhereTheyLed) {
  EXPECT_EQ(moved({0xE9, 0, 1, 0, 0, 0x90}), "E9 00 F1 FF FF for 5") << "jmp rel32";
  EXPECT_EQ(moved({0xEB, 0x10, 0xCC, 0xCC, 0xCC, 0xCC}), "E9 0D F0 FF FF for 5") << "jmp rel8";
  // endbr64; bnd jmp [rip + 0x2000]: an entry of a PLT
  EXPECT_EQ(moved({0xF3, 0x0F, 0x1E, 0xFA, 0xF2, 0xFF, 0x25, 0, 0x20, 0, 0}),
            "F3 0F 1E FA F2 FF 25 00 10 00 00 for 11");
  EXPECT_EQ(moved({0x3E, 0xFF, 0xE0, 0xCC, 0xCC}), "3E FF E0 for 5") << "notrack jmp rax";
}

TEST(Relocation, WidensConditionalJumps) {
  // test edi, edi; je +0x10; mov eax, edi; ret
  EXPECT_EQ(moved({0x85, 0xFF, 0x74, 0x10, 0x89, 0xF8, 0xC3}), "85 FF 0F 84 0C F0 FF FF 89 F8 E9 F7 EF FF FF for 6");
  EXPECT_EQ(moved({0x0F, 0x8F, 0, 1, 0, 0, 0xC3}), "0F 8F 00 F1 FF FF E9 FB EF FF FF for 6") << "jg rel32";
}

TEST(Relocation, RefusesJumpsWithNoWideForm) {
  EXPECT_THAT(moved({0xE3, 0x10, 0x90, 0x90, 0x90, 0xC3}), StartsWith("its first instructions cannot be moved: jrcxz"));
  EXPECT_THAT(moved({0xE2, 0x10, 0x90, 0x90, 0x90, 0xC3}), StartsWith("its first instructions cannot be moved: loop"));
  EXPECT_THAT(moved({0xC7, 0xF8, 0, 1, 0, 0, 0xC3}), StartsWith("its first instructions cannot be moved: xbegin"));
}

TEST(Relocation, EndsWithTheFunction) {
  EXPECT_EQ(moved({0x31, 0xC0, 0xC3, 0x66, 0x90}, 3), "31 C0 C3 for 5") << "xor eax, eax; ret, and padding";
  EXPECT_EQ(moved({0xC3, 0xCC, 0xCC, 0xCC, 0xCC}, 1), "C3 for 5");
  EXPECT_EQ(moved({0x31, 0xC0, 0xC2, 8, 0}), "31 C0 C2 08 00 for 5") << "ret 8";
  EXPECT_EQ(moved({0xC3, 0, 0, 0, 0, 0}, 1), "C3 for 5");
  EXPECT_EQ(moved({0xC3, 0x66, 0x66, 0x2E, 0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0}, 1), "C3 for 5") << "one long nop";
  // The padding of a function that runs on into the next one is code.
  EXPECT_EQ(moved({0xF3, 0x0F, 0x1E, 0xFA, 0x90}, 4), "F3 0F 1E FA 90 E9 FB EF FF FF for 5");
}

TEST(Relocation, RefusesFunctionsThatAreTooShort) {
  EXPECT_EQ(moved({0x31, 0xC0, 0xC3}), "it is too short");
  EXPECT_EQ(moved({0x31, 0xC0, 0xC3, 0x90}, 3), "it is too short");
  EXPECT_EQ(moved({0x31, 0xC0, 0xC3, 0x55, 0xC3}, 3), "it is too short") << "what follows is not padding";
  EXPECT_EQ(moved({0xC3, 0x0F, 0x1F, 0x84, 0, 0}, 1), "it is too short") << "not all of the padding is there";
  EXPECT_EQ(moved({}), "it is too short");
  EXPECT_EQ(moved({0x31, 0xC0, 0xC3}, 8), "its code is not there whole");
}

TEST(Relocation, RefusesJumpsIntoTheFirstBytes) {
  const std::string reason = "a jump leads into its first bytes";
  EXPECT_EQ(moved({0x31, 0xC0, 0xFF, 0xC0, 0x39, 0xF8, 0x75, 0xFA, 0xC3}), reason) << "jne to the third byte";
  EXPECT_EQ(moved({0x31, 0xC0, 0xFF, 0xC0, 0x39, 0xF8, 0xE2, 0xFB, 0xC3}), reason) << "loop to the fourth byte";
  EXPECT_EQ(moved({0x31, 0xC0, 0xFF, 0xC0, 0x39, 0xF8, 0x0F, 0x85, 0xF6, 0xFF, 0xFF, 0xFF, 0xC3}), reason);
  EXPECT_EQ(moved({0x31, 0xC0, 0xFF, 0xC0, 0x39, 0xF8, 0xE9, 0xF9, 0xFF, 0xFF, 0xFF}), reason);
  EXPECT_EQ(moved({0x74, 0x01, 0x90, 0x31, 0xC0, 0xC3}), reason) << "from within them";
}

TEST(Relocation, TakesOtherBytesForNoJump) {
  EXPECT_EQ(moved({0xB8, 0xFF, 0xFF, 0xFF, 0xFF, 0xC3}), "B8 FF FF FF FF E9 FB EF FF FF for 5") << "mov eax, -1";
  // mov eax, 1; mov ecx, 0xF774: an immediate that looks like a jump back
  EXPECT_EQ(moved({0xB8, 1, 0, 0, 0, 0xB9, 0x74, 0xFA, 0, 0, 0xC3}), "B8 01 00 00 00 E9 FB EF FF FF for 5");
  // mov eax, edi; dec eax; test eax, eax; jne to the start: the patch is right there
  EXPECT_EQ(moved({0x89, 0xF8, 0xFF, 0xC8, 0x85, 0xC0, 0x75, 0xF8, 0xC3}), "89 F8 FF C8 85 C0 E9 FB EF FF FF for 6");
  // Behind the patch, though among the bytes that the copy stands for.
  EXPECT_EQ(moved({0x85, 0xFF, 0x75, 0x01, 0xC3, 0x31, 0xC0, 0xC3}), "85 FF 0F 85 FD EF FF FF C3 for 5");
}

TEST(Relocation, RefusesTrapsAndWhatIsNoCode) {
  EXPECT_EQ(moved({0x0F, 0x0B, 0x90, 0x90, 0x90}), "its first instructions cannot be moved: ud2");
  EXPECT_EQ(moved({0xCC, 0x48, 0x89, 0xE5, 0xC3}), "its first instructions cannot be moved: int3");
  EXPECT_EQ(moved({0x06, 0x06, 0x06, 0x06, 0x06, 0xC3}), "its first instructions cannot be decoded");
  EXPECT_EQ(moved({0x55, 0x48, 0x8B, 0x05, 0, 0x20}), "its first instructions cannot be decoded") << "it is cut off";
}

TEST(Relocation, TellsHowToUnwind) {
  EXPECT_THAT(rows({0xB8, 1, 0, 0, 0, 0xC3}), IsEmpty());
  // push rbp; mov rbp, rsp; push r15; push rdi
  EXPECT_THAT(rows({0x55, 0x48, 0x89, 0xE5, 0x41, 0x57, 0x57}), ElementsAre("1: 16 saved 6", "6: 24 saved 15"));
  // push rdi; sub rsp, 24; add rsp, -128
  EXPECT_THAT(rows({0x57, 0x48, 0x83, 0xEC, 24, 0xC3}), ElementsAre("1: 16", "5: 40"));
  EXPECT_THAT(rows({0x48, 0x83, 0xC4, 0x80, 0x90}), ElementsAre("4: 136"));
  EXPECT_THAT(rows({0x48, 0x8D, 0x64, 0x24, 0xF8, 0xC3}), ElementsAre("5: 16")) << "lea rsp, [rsp - 8]";
  EXPECT_THAT(rows({0x6A, 1, 0x6A, 2, 0x6A, 3}), ElementsAre("2: 16", "4: 24", "6: 32")) << "push imm8";
  // push rbp; mov rbp, rsp; pop rbp; ret: an empty function at -O0
  EXPECT_THAT(rows({0x55, 0x48, 0x89, 0xE5, 0x5D, 0xC3}), ElementsAre("1: 16 saved 6", "5: 8 restored 6"));
  // push rbx; push rbx: the second is a copy
  EXPECT_THAT(rows({0x53, 0x53, 0x89, 0xFB, 0x90}), ElementsAre("1: 16 saved 3", "2: 24"));
  // push rbx; mov ebx, edi; call: the return address is there already
  EXPECT_THAT(rows({0x53, 0x89, 0xFB, 0xE8, 0, 1, 0, 0}), ElementsAre("1: 16 saved 3", "8: 24"));
}

TEST(Relocation, RefusesWhatMovesTheStackPointerInAWayThatNoRowCanTell) {
  const auto refused = [](std::vector<std::uint8_t> bytes) {
    bytes.insert(bytes.end(), 5, 0x90);
    const std::string text = moved(std::move(bytes));
    const std::string start = "its first instructions cannot be moved: ";
    return text.starts_with(start) ? text.substr(start.size()) : text;
  };
  EXPECT_EQ(refused({0x48, 0x83, 0xE4, 0xF0}), "and rsp, 0xFFFFFFFFFFFFFFF0");
  EXPECT_EQ(refused({0x48, 0x89, 0xC4}), "mov rsp, rax");
  EXPECT_EQ(refused({0x55, 0xC9}), "leave");
  EXPECT_EQ(refused({0x5C}), "pop rsp");
  EXPECT_EQ(refused({0x58}), "pop rax") << "the return address";
  EXPECT_EQ(refused({0x48, 0x83, 0xEC, 0x04}), "sub rsp, 0x04") << "not a whole word";
  EXPECT_EQ(refused({0x66, 0x50}), "push ax");
  EXPECT_EQ(refused({0x53, 0x58}), "pop rax") << "rbx is no longer on the stack";
}

TEST(Relocation, HasRoomForTheLongest) {
  // jo, jo, and a call of 15 bytes: cs segment prefixes, REX.B, [r8 + disp32]
  std::vector<std::uint8_t> bytes = {0x70, 0x40, 0x70, 0x40};
  bytes.insert(bytes.end(), 8, 0x2E);
  for (const int byte : {0x41, 0xFF, 0x90, 0, 1, 0, 0, 0xC3}) bytes.push_back(static_cast<std::uint8_t>(byte));
  const auto longest = relocated(bytes);
  ASSERT_TRUE(longest) << longest.error().message;
  EXPECT_EQ(longest->code.size(), 40U);
  EXPECT_EQ(longest->replaced, 19U);
}

}  // namespace
}  // namespace flamb
