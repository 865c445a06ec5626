#include "viewer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace flamb {
namespace {

using Arguments = std::vector<std::string>;

tl::unexpected<Error> cannot_open(const std::string& file, std::string_view program, std::string_view reason) {
  return fail(Fault::user, fmt::format("cannot open '{}' with '{}': {}", file, program, reason),
              "the file is there: open it yourself, or name another program by --open");
}

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool is_program(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

// The path of a program on PATH; of one with a slash, itself.
std::optional<std::string> locate(const std::string& program) {
  if (program.find('/') != std::string::npos) return is_program(program) ? std::optional(program) : std::nullopt;
  const char* directories = std::getenv("PATH");
  for (const std::string& directory : split_at(directories ? directories : "/usr/bin:/bin", ':')) {
    const std::string path = (directory.empty() ? "." : directory) + '/' + program;
    if (is_program(path)) return path;
  }
  return std::nullopt;
}

// One entry of $BROWSER: words, in which %s stands for the file; it goes last where there is none.
Arguments browser_arguments(std::string_view entry, const std::string& file) {
  Arguments arguments;
  bool has_file = false;
  for (std::string& word : split_at(entry, ' ')) {
    if (word.empty()) continue;
    if (const std::size_t at = word.find("%s"); at != std::string::npos) {
      word.replace(at, 2, file);
      has_file = true;
    }
    arguments.push_back(std::move(word));
  }
  if (!has_file && !arguments.empty()) arguments.push_back(file);
  return arguments;
}

// The first browser that is installed; nothing if none is.
Arguments find_browser(const std::string& file) {
  std::vector<std::string> entries;
  if (const char* chosen = std::getenv("BROWSER")) entries = split_at(chosen, ':');
  for (const char* usual : {"xdg-open", "sensible-browser", "x-www-browser", "firefox", "chromium", "google-chrome"}) {
    entries.emplace_back(usual);
  }
  for (const std::string& entry : entries) {
    Arguments arguments = browser_arguments(entry, file);
    if (arguments.empty()) continue;
    if (const std::optional<std::string> path = locate(arguments[0])) {
      arguments[0] = *path;
      return arguments;
    }
  }
  return {};
}

// Runs in a forked process, where only async-signal-safe calls are allowed: debuggers have many threads. Tells
// `report` the error if the program cannot be started; a start closes it.
[[noreturn]] void become_viewer(char* const* arguments, int report) {
  // A second fork: the viewer is nobody's child in the debugger, which would have to wait for it.
  ::setsid();
  const pid_t child = ::fork();
  if (child > 0) ::_exit(0);
  if (child == 0) {
    constexpr int kept = STDERR_FILENO + 1;
    if (report != kept) ::dup2(report, kept);
    ::fcntl(kept, F_SETFD, FD_CLOEXEC);
    const int null = ::open("/dev/null", O_RDWR);
    for (int stream = 0; stream < kept; ++stream) ::dup2(null, stream);
    ::close_range(kept + 1, ~0U, 0);
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execv(arguments[0], arguments);
    report = kept;
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(report, &error, sizeof error);
  ::_exit(1);
}

// 0, or the error that kept the program from starting.
int start_detached(Arguments arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) return errno;

  // The debugger's signal handlers must not run in the new process: they would write to pipes that it shares.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::fork();
  if (child == 0) become_viewer(pointers.data(), report[1]);
  int error = child < 0 ? errno : 0;
  ::close(report[1]);
  int told = 0;
  ssize_t length = 0;
  while (child > 0 && (length = ::read(report[0], &told, sizeof told)) < 0 && errno == EINTR) {
  }
  if (length == sizeof told) error = told;
  ::close(report[0]);
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

}  // namespace

Result<std::string> open_viewer(const std::string& program, const std::string& file) {
  Arguments arguments;
  if (program == "browser") {
    arguments = find_browser(file);
    if (arguments.empty()) return cannot_open(file, program, "no browser is installed, and $BROWSER names none");
  } else if (const std::optional<std::string> path = locate(program)) {
    arguments = {*path, file};
  } else if (program.find('/') == std::string::npos) {
    return cannot_open(file, program, "it is not installed: there is no such program on PATH");
  } else {
    return cannot_open(file, program, ::access(program.c_str(), F_OK) == 0 ? "it is no program" : "it does not exist");
  }
  const std::string started = arguments[0];
  if (const int error = start_detached(std::move(arguments)); error != 0) {
    return cannot_open(file, started, std::generic_category().message(error));
  }
  return started;
}

}  // namespace flamb
