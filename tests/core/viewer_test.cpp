#include "viewer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fake_debugger.h"
#include "known_viewers.h"
#include "session.h"

namespace flamb {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Viewer : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/flamb-viewer-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory = fs::canonical(pattern).string();
    ASSERT_EQ(::mkfifo((directory + "/fifo").c_str(), 0600), 0);
    // Held open for both, so that neither end waits for the other to come.
    fifo = ::open((directory + "/fifo").c_str(), O_RDWR | O_CLOEXEC);
    ::setenv("PATH", (directory + "/bin:/usr/bin:/bin").c_str(), 1);
    fs::create_directory(directory + "/bin");
    ::unsetenv("BROWSER");
    ::setenv("DISPLAY", ":99", 1);
  }
  void TearDown() override {
    ::close(fifo);
    fs::remove_all(directory);
  }

  // A program on PATH that runs `script` and hands its output over.
  std::string install(const std::string& name, const std::string& script = R"(printf '%s\n' "$0" "$@")") const {
    const std::string path = directory + "/bin/" + name;
    std::ofstream(path) << "#!/bin/sh\n{ " << script << "; echo END; } >" << directory << "/fifo 2>&1\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }

  // What such a program wrote, once it is done.
  std::string output() const {
    std::string text;
    while (!text.ends_with("END\n")) {
      pollfd ready{fifo, POLLIN, 0};
      char buffer[4096];
      if (::poll(&ready, 1, 20000) <= 0) {
        ADD_FAILURE() << "the viewer did not end; it wrote: " << text;
        return text;
      }
      const ssize_t length = ::read(fifo, buffer, sizeof buffer);
      text.append(buffer, length > 0 ? static_cast<std::size_t>(length) : 0);
    }
    return text.substr(0, text.size() - 4);
  }

  std::string directory;
  int fifo = -1;
};

std::string error(const Result<std::string>& result) {
  if (result) ADD_FAILURE() << *result << " was started";
  return result ? "" : result.error().message + "\n" + result.error().next_action;
}

TEST_F(Viewer, IsStartedByNameWithTheFile) {
  const std::string path = install("viewer");
  EXPECT_EQ(open_viewer("viewer", "/tmp/a graph;$(x).svg"), path);
  EXPECT_EQ(output(), path + "\n/tmp/a graph;$(x).svg\n");
}

TEST_F(Viewer, IsStartedByPath) {
  const std::string path = install("viewer");
  ::setenv("PATH", "/nonexistent", 1);
  EXPECT_EQ(open_viewer(path, "f.svg"), path);
  EXPECT_EQ(output(), path + "\nf.svg\n");
}

TEST_F(Viewer, IsDetached) {
  install("viewer", "cut -d' ' -f1,4,6,7 /proc/$$/stat");
  ASSERT_TRUE(open_viewer("viewer", "f.svg"));
  std::istringstream out(output());
  pid_t pid = 0, parent = 0, session = 0;
  int terminal = 1;
  out >> pid >> parent >> session >> terminal;
  EXPECT_NE(session, ::getsid(0));
  EXPECT_NE(session, pid) << "a leader of a session could take a terminal";
  EXPECT_NE(parent, ::getpid());
  EXPECT_EQ(terminal, 0);
}

TEST_F(Viewer, LeavesNoChildBehind) {
  install("viewer");
  ASSERT_TRUE(open_viewer("viewer", "f.svg"));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  output();
}

TEST_F(Viewer, GetsNoneOfTheDebuggersFiles) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  ASSERT_EQ(::dup2(pipe[1], 200), 200);
  install("viewer",
          "for fd in 0 3 4 5 9; do readlink /proc/$$/fd/$fd || echo $fd none; done; readlink /proc/$$/fd/200 || echo "
          "200 none");
  ASSERT_TRUE(open_viewer("viewer", "f.svg"));
  // The script itself is open in a shell, as 10 or above.
  EXPECT_EQ(output(), "/dev/null\n3 none\n4 none\n5 none\n9 none\n200 none\n");
  ::close(200);
}

TEST_F(Viewer, HasSignalsAsUsual) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGUSR1, SIG_IGN);
  install("viewer", "grep -E '^Sig(Blk|Ign)' /proc/self/status");
  ASSERT_TRUE(open_viewer("viewer", "f.svg"));
  EXPECT_EQ(output(), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");

  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  EXPECT_EQ(sigismember(&now, SIGTERM), 1);
  EXPECT_EQ(sigismember(&now, SIGHUP), 0);
}

TEST_F(Viewer, ThatIsNotThereIsNamedWithTheFile) {
  EXPECT_THAT(error(open_viewer("no-such-viewer", "/tmp/f.svg")),
              AllOf(HasSubstr("'/tmp/f.svg'"), HasSubstr("'no-such-viewer'"), HasSubstr("not installed")));
  EXPECT_THAT(error(open_viewer("/no/such/viewer", "/tmp/f.svg")),
              AllOf(HasSubstr("'/tmp/f.svg'"), HasSubstr("'/no/such/viewer'"), HasSubstr("does not exist")));
  EXPECT_THAT(error(open_viewer("/tmp", "/tmp/f.svg")), HasSubstr("no program"));
  std::ofstream(directory + "/bin/plain") << "text";
  EXPECT_THAT(error(open_viewer("plain", "/tmp/f.svg")), HasSubstr("not installed"));
}

TEST_F(Viewer, ThatCannotBeRunIsNamedWithTheReason) {
  const std::string path = install("broken");
  std::ofstream(path) << "#!/no/such/interpreter\n";
  EXPECT_THAT(error(open_viewer("broken", "/tmp/f.svg")),
              AllOf(HasSubstr("'" + path + "'"), HasSubstr("'/tmp/f.svg'"), HasSubstr("No such file or directory")));
  std::ofstream(path) << "neither script nor binary\n";
  EXPECT_THAT(error(open_viewer("broken", "/tmp/f.svg")), HasSubstr("Exec format error"));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST_F(Viewer, BrowserIsTheFirstOfTheVariableThatIsInstalled) {
  const std::string path = install("my-browser");
  install("xdg-open");
  ::setenv("BROWSER", "not-installed:my-browser --new %s --last:other", 1);
  EXPECT_EQ(open_viewer("browser", "/tmp/f.svg"), path);
  EXPECT_EQ(output(), path + "\n--new\n/tmp/f.svg\n--last\n");
  ::setenv("BROWSER", ("::" + path).c_str(), 1);
  EXPECT_EQ(open_viewer("browser", "/tmp/f.svg"), path);
  EXPECT_EQ(output(), path + "\n/tmp/f.svg\n");
}

TEST_F(Viewer, BrowserIsTheDesktopsOrAnInstalledOneWithoutTheVariable) {
  ::setenv("PATH", (directory + "/bin").c_str(), 1);
  EXPECT_THAT(error(open_viewer("browser", "/tmp/f.svg")), AllOf(HasSubstr("no browser"), HasSubstr("'/tmp/f.svg'")));
  const std::string firefox = install("firefox");
  EXPECT_EQ(open_viewer("browser", "/tmp/f.svg"), firefox);
  output();
  const std::string desktop = install("xdg-open");
  EXPECT_EQ(open_viewer("browser", "/tmp/f.svg"), desktop);
  EXPECT_EQ(output(), desktop + "\n/tmp/f.svg\n");
}

TEST_F(Viewer, ThatIsKnownIsStartedByName) {
  const std::string path = install("speedscope");
  EXPECT_EQ(open_viewer("speedscope", "/tmp/f.speedscope.json"), path);
  EXPECT_EQ(output(), path + "\n/tmp/f.speedscope.json\n");
  EXPECT_TRUE(check_viewer("speedscope"));
}

TEST_F(Viewer, ThatIsKnownButNotInstalledCanBeGot) {
  ::setenv("PATH", (directory + "/bin").c_str(), 1);
  EXPECT_THAT(error(open_viewer("speedscope", "/tmp/f.speedscope.json")),
              AllOf(HasSubstr("'/tmp/f.speedscope.json'"), HasSubstr("not installed"),
                    HasSubstr("`npm install -g speedscope`")));
  EXPECT_THAT(check_viewer("speedscope").error().message, HasSubstr("not installed"));
  if (find_known_viewer("hotspot") != nullptr) {
    EXPECT_THAT(error(open_viewer("hotspot", "/tmp/perf.data")), HasSubstr("`apt install hotspot`"));
  }
}

TEST_F(Viewer, NeedsADisplay) {
  install("speedscope");
  install("firefox");
  ::unsetenv("DISPLAY");
  ::unsetenv("WAYLAND_DISPLAY");
  for (const std::string viewer : {"speedscope", "browser"}) {
    EXPECT_THAT(error(open_viewer(viewer, "/tmp/f.svg")),
                AllOf(HasSubstr("no display"), HasSubstr("'/tmp/f.svg'"), HasSubstr("set BROWSER")));
    EXPECT_FALSE(check_viewer(viewer));
  }
  ::setenv("WAYLAND_DISPLAY", "wayland-0", 1);
  EXPECT_TRUE(check_viewer("speedscope"));
}

TEST_F(Viewer, NeedsNoDisplayForABrowserThatWasNamed) {
  install("speedscope");
  const std::string browser = install("terminal-browser");
  ::unsetenv("DISPLAY");
  ::unsetenv("WAYLAND_DISPLAY");
  ::setenv("BROWSER", browser.c_str(), 1);
  EXPECT_TRUE(check_viewer("speedscope"));
  EXPECT_EQ(open_viewer("browser", "/tmp/f.svg"), browser);
  output();
}

TEST_F(Viewer, NeedsNoDisplayIfNothingIsKnownOfIt) {
  install("less");
  ::unsetenv("DISPLAY");
  ::unsetenv("WAYLAND_DISPLAY");
  EXPECT_TRUE(open_viewer("less", "/tmp/f.txt"));
  output();
}

TEST_F(Viewer, IsLookedForBeforeAnythingRuns) {
  FakeDebugger debugger;
  debugger.info.state = TargetState::stopped;
  EXPECT_FALSE(run_command(debugger, "capture f --open no-such-viewer"));
  EXPECT_THAT(debugger.printed, HasSubstr("'no-such-viewer' will not open: it is not installed"));
  EXPECT_THAT(debugger.printed, HasSubstr("the file is written all the same"));
}

TEST(KnownViewers, ReadFormatsThatFlambWrites) {
  EXPECT_THAT(known_viewer_names(), ::testing::IsSupersetOf({"browser", "speedscope"}));
  for (const std::string& name : known_viewer_names()) {
    const KnownViewer* viewer = find_known_viewer(name);
    ASSERT_NE(viewer, nullptr) << name;
    ASSERT_FALSE(readable_formats(*viewer).empty()) << name;
    for (const Exporter* format : readable_formats(*viewer)) EXPECT_TRUE(reads(*viewer, *format)) << name;
  }
  EXPECT_EQ(find_known_viewer("less"), nullptr);
  EXPECT_EQ(find_known_viewer(""), nullptr);
}

}  // namespace
}  // namespace flamb
