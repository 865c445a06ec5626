#include "output_file.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <streambuf>
#include <system_error>
#include <utility>

namespace flamb {
namespace {

tl::unexpected<Error> cannot(std::string_view what, const std::string& path, int reason) {
  std::string_view remedy = "choose another directory by --output-directory";
  if (reason == ENOENT) remedy = "make the directory, or choose another by --output-directory";
  if (reason == ENOSPC || reason == EDQUOT) remedy = "make room there, or choose another place by --output-directory";
  return fail(Fault::user, fmt::format("cannot {} '{}': {}", what, path, std::generic_category().message(reason)),
              std::string(remedy));
}

bool is_allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

std::string sanitize(std::string_view name) {
  constexpr std::size_t longest = 60;
  std::string result;
  bool replaced = false;
  for (const char c : name) {
    const bool allowed = is_allowed(c);
    if (allowed || !replaced) result += allowed ? c : '_';
    replaced = !allowed;
    if (result.size() == longest) break;
  }
  if (result.empty()) return "_";
  if (result[0] == '.' || result[0] == '-') result[0] = '_';
  // speedscope takes "...Profile-" and "...Trace-" with a date for the names of Chrome's own files.
  if (result.ends_with("Profile") || result.ends_with("Trace")) result += '_';
  return result;
}

// Writes to a file descriptor and remembers the first error: what std::ofstream does not tell.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor) : descriptor_(descriptor) { setp(buffer_.data(), buffer_.data() + size); }

  int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }

  int sync() override {
    const char* begin = pbase();
    while (begin != pptr() && error_ == 0) {
      const ssize_t written = ::write(descriptor_, begin, static_cast<std::size_t>(pptr() - begin));
      if (written >= 0) {
        begin += written;
      } else if (errno != EINTR) {
        error_ = errno;
      }
    }
    setp(buffer_.data(), buffer_.data() + size);
    return error_ == 0 ? 0 : -1;
  }

 private:
  static constexpr std::size_t size = 1 << 16;
  int descriptor_;
  int error_ = 0;
  std::array<char, size> buffer_;
};

// A file under a name of its own, removed unless it was given another.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& directory) {
    for (int number = 1; descriptor_ < 0; ++number) {
      path_ = fmt::format("{}/.flamb-{}-{}", directory, ::getpid(), number);
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      error_ = descriptor_ < 0 ? errno : 0;
      if (error_ != 0 && error_ != EEXIST && error_ != EINTR) return;
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (error_ == 0 && !path_.empty()) ::unlink(path_.c_str());
  }

  int error() const { return error_; }

  // The error, 0 for none, of writing all of it and of closing.
  int write(const std::function<void(std::ostream&)>& writer) {
    DescriptorBuffer buffer(descriptor_);
    std::ostream out(&buffer);
    writer(out);
    out.flush();
    const int closed = ::close(std::exchange(descriptor_, -1));
    if (buffer.error() != 0) return buffer.error();
    if (closed != 0 && errno != EINTR) return errno;
    return out ? 0 : EIO;
  }

  // 0, or the error: EEXIST if there is such a file already.
  int rename(const std::string& path) {
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) {
      path_.clear();
      return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) return errno;
    // Not every file system can rename without overwriting: link does it, and the destructor removes the other name.
    return ::link(path_.c_str(), path.c_str()) == 0 ? 0 : errno;
  }

 private:
  std::string path_;
  int descriptor_ = -1;
  int error_ = 0;
};

Result<std::string> absolute(const std::string& directory) {
  char* const resolved = ::realpath(directory.empty() ? "." : directory.c_str(), nullptr);
  if (!resolved) return cannot("use the output directory", directory.empty() ? "." : directory, errno);
  std::string path(resolved);
  std::free(resolved);
  return path;
}

}  // namespace

std::string output_stem(std::string_view function, std::chrono::system_clock::time_point date, std::uint64_t number) {
  const auto microseconds =
      std::chrono::duration_cast<std::chrono::microseconds>(date.time_since_epoch()).count() % 1'000'000;
  const std::tm local = fmt::localtime(std::chrono::system_clock::to_time_t(date));
  return fmt::format("{}-{:%Y%m%dT%H%M%S}.{:06}-{}", sanitize(function), local, microseconds, number);
}

Result<void> check_output_directory(const std::string& directory) {
  const Result<std::string> path = absolute(directory);
  if (!path) return tl::unexpected<Error>(path.error());
  struct stat status {};
  if (::stat(path->c_str(), &status) != 0) return cannot("use the output directory", *path, errno);
  if (!S_ISDIR(status.st_mode)) return cannot("use the output directory", *path, ENOTDIR);
  // Only trying tells: access() says yes to root on a read-only file system.
  const TemporaryFile probe(*path);
  if (probe.error() != 0) return cannot("write to the output directory", *path, probe.error());
  return {};
}

Result<std::string> write_output_file(const std::string& directory, std::string_view stem, std::string_view extension,
                                      const std::function<void(std::ostream&)>& write) {
  const Result<std::string> place = absolute(directory);
  if (!place) return tl::unexpected<Error>(place.error());
  TemporaryFile file(*place);
  std::string path = fmt::format("{}/{}.{}", *place, stem, extension);
  int error = file.error();
  if (error == 0) error = file.write(write);
  if (error == 0) error = file.rename(path);
  for (int number = 2; error == EEXIST; ++number) {
    path = fmt::format("{}/{}-{}.{}", *place, stem, number, extension);
    error = file.rename(path);
  }
  if (error != 0) return cannot("write", path, error);
  return path;
}

}  // namespace flamb
