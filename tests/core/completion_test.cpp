#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "options/options.h"

namespace flamb {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

TEST(Completion, OffersCommands) {
  EXPECT_THAT(complete(""), ElementsAre("apply", "capture", "help"));
  EXPECT_THAT(complete("c"), ElementsAre("capture"));
  EXPECT_THAT(complete("help "), ElementsAre("apply", "capture"));
  EXPECT_THAT(complete("help a"), ElementsAre("apply"));
  EXPECT_THAT(complete("help capture "), IsEmpty());
  EXPECT_THAT(complete("bogus "), IsEmpty());
}

TEST(Completion, OffersOptions) {
  EXPECT_THAT(complete("capture f --m"), ElementsAre("--max-depth", "--measure", "--merge", "--modules"));
  EXPECT_THAT(complete("apply -out"), ElementsAre("-output-directory", "-output-format"));
  EXPECT_THAT(complete("capture f -").size(), 14u);
  EXPECT_EQ(complete("capture f -"), complete("capture f --"));
  EXPECT_THAT(complete("apply f(x) --m"), IsEmpty());
  EXPECT_THAT(complete("capture -- --m"), IsEmpty());
  EXPECT_THAT(complete("capture f"), IsEmpty());
}

TEST(Completion, OffersValues) {
  EXPECT_THAT(complete("capture f --return "), ElementsAre("filename", "flamegraph", "value"));
  EXPECT_THAT(complete("capture -r f"), ElementsAre("filename", "flamegraph"));
  EXPECT_THAT(complete("apply --measure=c"), ElementsAre("--measure=calls"));
  EXPECT_THAT(complete("apply -collector st"), ElementsAre("stepping"));
  EXPECT_THAT(complete("capture f --open "), IsSupersetOf({"browser", "speedscope"}));
  EXPECT_THAT(complete("capture f --open=sp"), ElementsAre("--open=speedscope"));
  EXPECT_THAT(complete("capture f -f s"), ElementsAre("speedscope", "svg"));
  EXPECT_THAT(complete("capture f --output-format collapsed,sv"), ElementsAre("collapsed,svg"));
  EXPECT_THAT(complete("capture f --output-format=text,b"), ElementsAre("--output-format=text,brendan_gregg"));
  EXPECT_THAT(complete("capture f -o "), IsEmpty());
  EXPECT_THAT(complete("capture f --bogus="), IsEmpty());
}

TEST(Completion, SaysWhereFunctionsGo) {
  EXPECT_EQ(completes_function("capture "), "");
  EXPECT_EQ(completes_function("capture par"), "par");
  EXPECT_EQ(completes_function("capture --merge foo(int, c"), "foo(int, c");
  EXPECT_EQ(completes_function("capture foo(int, "), "foo(int, ");
  EXPECT_EQ(completes_function("capture -r value pa"), "pa");
  EXPECT_EQ(completes_function("apply --merge f(1, g"), "f(1, g");
  EXPECT_EQ(completes_function("apply f(1, "), "f(1, ");
  EXPECT_EQ(completes_function("apply "), "");
  for (const std::string line : {"", "capture", "help c", "capture --", "capture --mer", "capture f -r ",
                                 "capture f -r v", "capture f --open=x", "apply --mea"}) {
    EXPECT_EQ(completes_function(line), std::nullopt) << line;
  }
}

}  // namespace
}  // namespace flamb
