#include "tracepoints/target_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>

namespace flamb {
namespace {

constexpr std::size_t page = 4096;

TEST(TargetMemory, WritesWhereTheProcessMayOnlyRead) {
  void* const mapped = mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  const auto memory = TargetMemory::open(getpid());
  ASSERT_TRUE(memory) << memory.error().message;
  const auto where = reinterpret_cast<Address>(mapped);
  EXPECT_TRUE(memory->write(where + 8, std::uint64_t{42}));
  EXPECT_EQ(memory->read<std::uint64_t>(where + 8), 42U);
  EXPECT_EQ(static_cast<const std::uint64_t*>(mapped)[1], 42U);
  munmap(mapped, page);
}

TEST(TargetMemory, FailsWholeWhereThereIsNone) {
  void* const mapped = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  munmap(static_cast<char*>(mapped) + page, page);
  const auto memory = TargetMemory::open(getpid());
  ASSERT_TRUE(memory) << memory.error().message;
  EXPECT_EQ((memory->read<std::array<char, 16>>(reinterpret_cast<Address>(mapped) + page - 8)), std::nullopt);
  EXPECT_EQ(memory->read<char>(0), std::nullopt);
  munmap(mapped, page);
}

TEST(TargetMemory, NamesTheProcessThatIsNotThere) {
  const auto memory = TargetMemory::open(-1);
  ASSERT_FALSE(memory);
  EXPECT_NE(memory.error().message.find("/proc/-1/mem"), std::string::npos) << memory.error().message;
}

TEST(FreeRange, IsWithinReachAndFree) {
  const AddressRange code{reinterpret_cast<Address>(&getpid), reinterpret_cast<Address>(&getpid) + 64};
  const auto found = find_free_range(getpid(), code, 16 * page);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found % page, 0U);
  const Address distance = *found < code.start ? code.end - *found : *found + 16 * page - code.start;
  EXPECT_LT(distance, Address{1} << 31);
  void* const there = reinterpret_cast<void*>(*found);  // NOLINT: what the kernel is asked for
  void* const mapped = mmap(there, 16 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  EXPECT_EQ(mapped, there);
  if (mapped == there) munmap(mapped, 16 * page);
}

TEST(FreeRange, IsNothingWhereTheSizeIsOutOfReach) {
  const AddressRange code{reinterpret_cast<Address>(&getpid), reinterpret_cast<Address>(&getpid) + 64};
  EXPECT_EQ(find_free_range(getpid(), code, std::size_t{1} << 32), std::nullopt);
}

}  // namespace
}  // namespace flamb
