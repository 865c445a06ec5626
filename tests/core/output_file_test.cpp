#include "output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace flamb {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

const auto date =
    std::chrono::system_clock::time_point(std::chrono::seconds(1700000000) + std::chrono::microseconds(42));

class OutputFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/flamb-output-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory = fs::canonical(pattern).string();
  }
  void TearDown() override { fs::remove_all(directory); }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename());
    return names;
  }

  Result<std::string> write(const std::string& text) const {
    return write_output_file(directory, "stem", "txt", [&](std::ostream& out) { out << text; });
  }

  std::string directory;
};

std::string content(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

template <class T>
std::string error(const Result<T>& result) {
  if (result) ADD_FAILURE() << "it succeeded";
  return result ? "" : result.error().message + "\n" + result.error().next_action;
}

std::string stem_name(std::string_view function) {
  const std::string stem = output_stem(function, date, 3);
  return stem.substr(0, stem.rfind('-', stem.rfind('-') - 1));
}

TEST(OutputStem, HoldsFunctionDateAndNumber) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  EXPECT_EQ(output_stem("parse_request", date, 3), "parse_request-20231114T221320.000042-3");
  EXPECT_EQ(output_stem("loadProfile", date, 3), "loadProfile_-20231114T221320.000042-3") << "not a file of Chrome's";
}

TEST(OutputStem, IsInLocalTime) {
  ::setenv("TZ", "XYZ-2", 1);
  ::tzset();
  EXPECT_EQ(output_stem("f", date, 1), "f-20231115T001320.000042-1");
}

TEST(OutputStem, ReducesNames) {
  EXPECT_EQ(stem_name("ns::Vec<int, char>::push_back(int&&)"), "ns_Vec_int_char_push_back_int_");
  EXPECT_EQ(stem_name("a.b-c_d"), "a.b-c_d");
  EXPECT_EQ(stem_name(""), "_");
  EXPECT_EQ(stem_name("\xC3\xA4\n/"), "_");
  EXPECT_EQ(stem_name("../../etc/passwd"), "_._.._etc_passwd");
  EXPECT_EQ(stem_name(".hidden"), "_hidden");
  EXPECT_EQ(stem_name("-rf"), "_rf");
  EXPECT_EQ(stem_name(std::string(10000, 'x')), std::string(60, 'x'));
}

TEST_F(OutputFile, IsWrittenWhole) {
  std::string text;
  for (int line = 0; line < 100000; ++line) text += "main;parse;read " + std::to_string(line) + "\n";
  const Result<std::string> path = write(text);
  ASSERT_TRUE(path) << error(path);
  EXPECT_EQ(*path, directory + "/stem.txt");
  EXPECT_EQ(content(*path) == text, true)
      << "of " << text.size() << " bytes, " << content(*path).size() << " are there";
  EXPECT_THAT(files(), ElementsAre("stem.txt"));
}

TEST_F(OutputFile, HasTheRightsOfAnyNewFile) {
  ::umask(027);
  const Result<std::string> path = write("x");
  ASSERT_TRUE(path) << error(path);
  struct stat status {};
  ASSERT_EQ(::stat(path->c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0640u);
}

TEST_F(OutputFile, OverwritesNothing) {
  std::ofstream(directory + "/stem.txt") << "mine";
  ASSERT_EQ(::symlink("/nonexistent", (directory + "/stem-2.txt").c_str()), 0);
  const Result<std::string> path = write("new");
  ASSERT_TRUE(path) << error(path);
  EXPECT_EQ(*path, directory + "/stem-3.txt");
  EXPECT_EQ(content(*path), "new");
  EXPECT_EQ(content(directory + "/stem.txt"), "mine");
}

TEST_F(OutputFile, OfManyWritersAreAllKept) {
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 8; ++writer) {
    writers.emplace_back([this] {
      for (int file = 0; file < 10; ++file) EXPECT_TRUE(write("text"));
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(files().size(), 80u);
  EXPECT_THAT(files(), Each(MatchesRegex("stem(-[0-9]+)?\\.txt")));
}

TEST_F(OutputFile, GoesToTheWorkingDirectoryWithoutADirectory) {
  fs::current_path(directory);
  EXPECT_TRUE(check_output_directory(""));
  const Result<std::string> path = write_output_file("", "stem", "txt", [](std::ostream& out) { out << 1; });
  ASSERT_TRUE(path) << error(path);
  EXPECT_EQ(*path, directory + "/stem.txt");
}

TEST_F(OutputFile, CheckLeavesTheDirectoryAsItWas) {
  EXPECT_TRUE(check_output_directory(directory));
  EXPECT_THAT(files(), IsEmpty());
}

void expect_refused(const std::string& directory, const std::string& reason) {
  const auto named = AllOf(HasSubstr("'" + directory + "'"), HasSubstr(reason), HasSubstr("--output-directory"));
  EXPECT_THAT(error(check_output_directory(directory)), named);
  bool written = false;
  EXPECT_FALSE(write_output_file(directory, "stem", "txt", [&](std::ostream&) { written = true; }));
  EXPECT_FALSE(written);
}

TEST_F(OutputFile, NeedsADirectory) {
  expect_refused(directory + "/missing", "No such file or directory");
  std::ofstream(directory + "/file") << "x";
  expect_refused(directory + "/file", "Not a directory");
  expect_refused("/dev/full", "Not a directory");
  expect_refused(directory + "/" + std::string(300, 'x'), "File name too long");
}

TEST_F(OutputFile, NeedsADirectoryThatCanBeWrittenTo) {
  struct statvfs status {};
  std::string read_only = "/proc";  // no file can be made there, by root either
  if (::statvfs("/sys", &status) == 0 && (status.f_flag & ST_RDONLY)) read_only = "/sys";
  EXPECT_THAT(error(check_output_directory(read_only)),
              AllOf(HasSubstr("cannot write to"), HasSubstr("'" + read_only + "'"), HasSubstr("--output-directory")));
}

TEST_F(OutputFile, RefusesANameThatIsTooLong) {
  const auto nothing = [](std::ostream&) {};
  EXPECT_THAT(error(write_output_file(directory, std::string(300, 'x'), "txt", nothing)),
              HasSubstr("File name too long"));
  EXPECT_THAT(files(), IsEmpty());
}

// Stands in for a full disk: the same system call fails, at any byte that is chosen.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    set(bytes);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { set(RLIM_INFINITY); }

 private:
  static void set(rlim_t bytes) {
    const rlimit limit{bytes, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) throw std::runtime_error("setrlimit failed");
  }
};

class FullDisk : public OutputFile, public ::testing::WithParamInterface<rlim_t> {};
INSTANTIATE_TEST_SUITE_P(OutputFile, FullDisk, ::testing::Values(0, 10, 65536, 100000));

TEST_P(FullDisk, LeavesNoHalfWrittenFile) {
  const auto write_too_much = [](std::ostream& out) {
    for (rlim_t byte = 0; byte <= GetParam(); ++byte) out << 'x';
  };
  Result<std::string> path;
  {
    const FileSizeLimit limit(GetParam());
    path = write_output_file(directory, "stem", "txt", write_too_much);
  }
  EXPECT_THAT(error(path), AllOf(HasSubstr("cannot write '" + directory + "/stem.txt'"), HasSubstr("File too large")));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(OutputFile, TellsTheWriterThatTheDiskIsFull) {
  int lines = 0;
  {
    const FileSizeLimit limit(10);
    EXPECT_FALSE(write_output_file(directory, "stem", "txt", [&](std::ostream& out) {
      while (out << "main;parse 1\n" && lines < 1000000) ++lines;
    }));
  }
  EXPECT_LT(lines, 10000);
}

TEST_F(OutputFile, IsGoneIfTheWriterThrowsOrFails) {
  EXPECT_THROW(static_cast<void>(
                   write_output_file(directory, "stem", "txt", [](std::ostream&) { throw std::runtime_error("no"); })),
               std::runtime_error);
  EXPECT_THAT(files(), IsEmpty());
  EXPECT_FALSE(write_output_file(directory, "stem", "txt", [](std::ostream& out) { out.setstate(std::ios::failbit); }));
  EXPECT_THAT(files(), IsEmpty());
}

}  // namespace
}  // namespace flamb
