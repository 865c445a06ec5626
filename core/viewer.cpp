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

#include "known_viewers.h"
#include "speedscope_page.h"

namespace flamb {
namespace {

using Arguments = std::vector<std::string>;

tl::unexpected<Error> cannot_open(const std::string& file, std::string_view program, const Error& why) {
  const std::string_view otherwise = "the file is there: open it yourself, or name another program by --open";
  return fail(why.fault, fmt::format("cannot open '{}' with '{}': {}", file, program, why.message),
              why.next_action.empty() ? std::string(otherwise) : fmt::format("{}; {}", why.next_action, otherwise));
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

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// Without a display a viewer would end at once and unseen, or a browser for terminals be started without one.
Result<void> check_display(const KnownViewer& viewer) {
  if (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) return {};
  const bool shows_elsewhere = is_set(viewer.is_page ? "BROWSER" : "QT_QPA_PLATFORM");
  if (shows_elsewhere) return {};
  return fail(Fault::user, "this session has no display: neither DISPLAY nor WAYLAND_DISPLAY is set",
              viewer.is_page ? "set BROWSER to a program that shows pages, or use a machine with a display"
                             : "use a session with a display, such as that of `ssh -X`");
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

struct Start {
  Arguments arguments;
  std::string shown;  // to the user
};

Start plainly(Arguments arguments) {
  std::string shown = arguments.front();
  return {std::move(arguments), std::move(shown)};
}

// What to run for a file.
Result<Start> command(const std::string& program, const std::string& file) {
  const KnownViewer* viewer = find_known_viewer(program);
  const std::string remedy(viewer != nullptr ? viewer->how_to_get : "");
  if (viewer != nullptr) {
    if (auto checked = check_display(*viewer); !checked) return tl::unexpected(checked.error());
  }
  if (program == "browser") {
    Arguments arguments = find_browser(file);
    if (arguments.empty()) return fail(Fault::user, "no browser is installed, and $BROWSER names none", remedy);
    return plainly(std::move(arguments));
  }
  if (const std::optional<std::string> path = locate(program)) {
    if (program == "speedscope" && is_set("BROWSER") && !file.empty()) {
      const auto page = speedscope_page(*path, file);
      if (Arguments browser = page ? find_browser(*page) : Arguments(); !browser.empty()) {
        std::string shown = fmt::format("{} in {}", *path, browser.front());
        return Start{std::move(browser), std::move(shown)};
      }
    }
    return plainly({*path, file});
  }
  if (program.find('/') == std::string::npos) {
    return fail(Fault::user, "it is not installed: there is no such program on PATH", remedy);
  }
  return fail(Fault::user, ::access(program.c_str(), F_OK) == 0 ? "it is no program" : "it does not exist");
}

}  // namespace

Result<void> check_viewer(const std::string& program) {
  const Result<Start> found = command(program, {});
  if (!found) return tl::unexpected(found.error());
  return {};
}

Result<std::string> open_viewer(const std::string& program, const std::string& file) {
  Result<Start> start = command(program, file);
  if (!start) return cannot_open(file, program, start.error());
  if (const int error = start_detached(std::move(start->arguments)); error != 0) {
    return cannot_open(file, start->shown, {Fault::user, std::generic_category().message(error), {}});
  }
  return start->shown;
}

}  // namespace flamb
