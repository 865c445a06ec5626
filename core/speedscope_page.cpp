#include "speedscope_page.h"

#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace flamb {
namespace {

// RFC 4648, section 4.
std::string base64(const std::string& bytes) {
  static constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t each = 0; each < 3; ++each) {
      group = group << 8U | (at + each < bytes.size() ? static_cast<unsigned char>(bytes[at + each]) : 0U);
    }
    for (unsigned shift = 18; shift <= 18; shift -= 6) text += digits[group >> shift & 0x3FU];
  }
  const std::size_t padding = (3 - bytes.size() % 3) % 3;
  return text.replace(text.size() - padding, padding, padding, '=');
}

std::string quoted(const std::string& text) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer>(buffer).String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  return buffer.GetString();
}

}  // namespace

std::optional<std::string> speedscope_page(const std::string& command, const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path page = fs::canonical(command, error).parent_path().parent_path() / "dist/release/index.html";
  if (error || !fs::exists(page, error)) return std::nullopt;

  std::ifstream in(file, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const fs::path script = fs::temp_directory_path(error) / fmt::format("speedscope-{}-{}.js", now, ::getpid());
  std::ofstream out(script, std::ios::binary);
  out << "speedscope.loadFileFromBase64(" << quoted(fs::path(file).filename()) << ", \"" << base64(content) << "\")";
  out.close();
  if (!in || !out) return std::nullopt;
  return fmt::format("file://{}#localProfilePath={}", page.string(), script.string());
}

}  // namespace flamb
