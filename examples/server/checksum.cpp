#include "checksum.h"

#include <array>

namespace {

constexpr std::size_t block_size = 16;

std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? value >> 1 ^ 0xedb88320 : value >> 1;
    table[byte] = value;
  }
  return table;
}

std::uint32_t update(std::uint32_t crc, unsigned char byte) {
  static const auto table = make_table();
  return crc >> 8 ^ table[(crc ^ byte) & 0xff];
}

std::uint32_t crc32(const unsigned char* bytes, std::size_t size) {
  std::uint32_t crc = 0xffffffff;
  for (std::size_t i = 0; i < size; ++i) crc = update(crc, bytes[i]);
  return ~crc;
}

std::uint32_t mix(std::uint32_t left, std::uint32_t right) { return (left << 5 | left >> 27) ^ right * 0x9e3779b1; }

}  // namespace

std::uint32_t checksum(const unsigned char* bytes, std::size_t size) {
  if (size <= block_size) return crc32(bytes, size);
  const std::size_t half = size / 2;
  const std::uint32_t left = checksum(bytes, half);
  const std::uint32_t right = checksum(bytes + half, size - half);
  return mix(left, right);
}
