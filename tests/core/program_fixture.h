#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fake_debugger.h"
#include "program/program.h"

namespace flamb {

// A Program over files that the fixtures' CMakeLists.txt builds, or the system's.
class ProgramTest : public testing::Test {
 protected:
  static constexpr Address library_bias = 0x7f0000000000;

  static std::string fixture(const std::string& name) { return std::string(FLAMB_FIXTURES_DIR) + "/" + name; }

  // The first is the program. Where it can be loaded anywhere, say where with `bias`.
  void load(const std::vector<std::string>& paths, Address bias = 0, std::vector<std::string> globs = {}) {
    for (std::size_t index = 0; index < paths.size(); ++index) {
      const Address library = library_bias + (index << 32);
      debugger_.mapped.push_back({paths[index], index == 0 ? bias : library, index == 0});
    }
    program_ = std::make_unique<Program>(debugger_, std::move(globs), frames_);
    const Result<void> done = program_->refresh();
    ASSERT_TRUE(done) << done.error().message;
  }

  Program& program() { return *program_; }

  // The one function of that name; null, and a failure, if there is none or more.
  const Function* only(std::string_view name) {
    const FunctionMatches found = program_->find(name);
    EXPECT_EQ(found.functions.size(), 1u) << name;
    return found.functions.size() == 1 ? found.functions.front() : nullptr;
  }

  static std::vector<std::string> names(const std::vector<const Function*>& functions) {
    std::vector<std::string> result;
    for (const Function* function : functions) result.push_back(function->name);
    std::sort(result.begin(), result.end());
    return result;
  }

  FakeDebugger debugger_;
  FrameTable frames_;
  std::unique_ptr<Program> program_;
};

}  // namespace flamb
