#pragma once

#include <cstddef>
#include <cstdint>

// A checksum over a tree of blocks: CRC-32 of each block of at most 16 bytes, halves mixed.
std::uint32_t checksum(const unsigned char* bytes, std::size_t size);
