#include "tracepoints/stub_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "program/eh_frame.h"
#include "program/elf_image.h"
#include "program/unwind_rules.h"
#include "traced_functions.h"

namespace flamb {
namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(StubLibraryTest, PatchesWhatItCanAndSaysWhyNotTheRest) {
  ASSERT_EQ(library.patches().size(), 7U);
  ASSERT_EQ(library.refusals().size(), 1U);
  EXPECT_EQ(library.refusals()[0].id, 7U);
  EXPECT_EQ(library.refusals()[0].reason, "a jump leads into its first bytes");
  for (const StubLibrary::Patch& patch : library.patches()) {
    EXPECT_EQ(std::memcmp(patch.original.data(), functions.at(patch.id).code.bytes.data(), patch_size), 0);
    EXPECT_EQ(patch.replacement[0], std::byte{0xE9});
    std::int32_t distance = 0;
    std::memcpy(&distance, &patch.replacement[1], sizeof distance);
    EXPECT_EQ(patch.entry + patch_size + static_cast<Address>(distance), stub(patch.id));
  }
}

TEST_F(StubLibraryTest, IsNoLargerThanPromised) {
  EXPECT_GT(library.end(), library.base());
  EXPECT_LE(library.end() - library.base(), StubLibrary::max_size(functions.size()));
  // The longest continuation, and none but those.
  std::vector<std::uint8_t> code = {0x70, 0x40, 0x70, 0x40};
  code.insert(code.end(), 8, 0x2E);
  for (const int byte : {0x41, 0xFF, 0x90, 0, 1, 0, 0, 0xC3}) code.push_back(static_cast<std::uint8_t>(byte));
  const std::vector<StubLibrary::Function> longest(1000,
                                                   {1, {0x400000, code.size(), std::as_bytes(std::span(code))}, "f"});
  const StubLibrary large(longest, 0x500000, 0);
  EXPECT_EQ(large.patches().size(), longest.size());
  EXPECT_LE(large.end() - large.base(), StubLibrary::max_size(longest.size()));
}

TEST_F(StubLibraryTest, IsTheSameEachTime) {
  const StubLibrary again(functions, library.base(), address_of(test_agent_entry));
  ASSERT_TRUE(again.write(directory + "/again.so"));
  EXPECT_TRUE(content(path) == content(directory + "/again.so"));
}

TEST_F(StubLibraryTest, RefusesFunctionsOutOfReach) {
  const StubLibrary far(functions, library.base() ^ (1ULL << 40), address_of(test_agent_entry));
  EXPECT_TRUE(far.patches().empty());
  EXPECT_EQ(far.refusals().at(0).reason, "it is too far away");
}

TEST_F(StubLibraryTest, SaysWhyItCannotBeWritten) {
  const auto written = library.write(directory + "/missing/stubs.so");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, testing::EndsWith("/missing/stubs.so\": No such file or directory"));
}

TEST_F(StubLibraryTest, HasSymbolsAndUnwindInformationForDebuggers) {
  const auto image = ElfImage::open(path);
  ASSERT_TRUE(image) << image.error().message;
  const ElfImage::Section* const symbols = (*image)->section(".symtab");
  ASSERT_NE(symbols, nullptr);
  const Elf64_Sym first = symbols->entries<Elf64_Sym>()[1];
  EXPECT_EQ(first.st_value, stub(0));
  EXPECT_STREQ(reinterpret_cast<const char*>((*image)->section(".strtab")->bytes.data()) + first.st_name,
               "[flamb] traced_add");

  const ElfImage::Section* const frames = (*image)->section(".eh_frame");
  const auto ranges = read_eh_frame(frames->bytes, frames->header.sh_addr);
  ASSERT_EQ(ranges.size(), library.patches().size());
  EXPECT_EQ(ranges[0].start, first.st_value);
  EXPECT_EQ(ranges[0].end, first.st_value + first.st_size);

  UnwindRules rules(**image);
  const auto offset = [&](Address address) { return rules.at(address).value_or(UnwindRules::Rule{}).offset; };
  EXPECT_EQ(offset(stub(0)), 8);
  EXPECT_EQ(offset(stub(0) + 5), 16) << "the id has been pushed";
  EXPECT_EQ(offset(stub(0) + 16), 8) << "the agent has taken it off";
  EXPECT_EQ(offset(stub(0) + 17), 16) << "rbx has been pushed";
}

}  // namespace
}  // namespace flamb
