#include <gmock/gmock.h>

#include "edit_distance.h"
#include "program_fixture.h"

namespace flamb {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class ProgramSearch : public ProgramTest {
 protected:
  void SetUp() override { load({fixture("names"), "/lib/x86_64-linux-gnu/libc.so.6"}); }
  std::vector<std::string> found(std::string_view typed) { return names(program().find(typed).functions); }
};

TEST_F(ProgramSearch, TakesAllOverloadsAndInstancesOfABareName) {
  EXPECT_THAT(found("parse"),
              ElementsAre("ns::Parser<double>::parse(char const*)", "ns::Parser<double>::parse(char const*, int) const",
                          "ns::Parser<int>::parse(char const*)", "ns::Parser<int>::parse(char const*, int) const"));
  EXPECT_EQ(found("Parser::parse"), found("parse"));
  EXPECT_EQ(found("ns::Parser::parse"), found("parse"));
  EXPECT_THAT(found("overloaded"), SizeIs(4));
}

TEST_F(ProgramSearch, TakesOneOfASignature) {
  EXPECT_THAT(found("overloaded(int)"), ElementsAre("ns::overloaded(int)"));
  EXPECT_THAT(found("ns::overloaded( int,const char * )"), ElementsAre("ns::overloaded(int, char const*)"));
  EXPECT_THAT(found("overloaded(const std::string&)"), SizeIs(1));
  EXPECT_THAT(found("overloaded(std::vector<std::string> const&)"), SizeIs(1));
  EXPECT_THAT(found("ns::Parser<int>::parse(char const*)"), ElementsAre("ns::Parser<int>::parse(char const*)"));
  EXPECT_THAT(found("_ZN2ns10overloadedEi"), ElementsAre("ns::overloaded(int)"));
}

TEST_F(ProgramSearch, FindsHiddenAndOddNames) {
  EXPECT_THAT(found("hidden"), ElementsAre("(anonymous namespace)::hidden(int)"));
  EXPECT_THAT(found("(anonymous namespace)::hidden"), SizeIs(1));
  EXPECT_THAT(found("file_local"), ElementsAre("file_local(int)"));
  EXPECT_THAT(found("tagged"), ElementsAre("tagged[abi:v2](int)"));
  EXPECT_THAT(found("~Parser"), SizeIs(2));
  EXPECT_THAT(found("Parser<int>::operator<"), ElementsAre("ns::Parser<int>::operator<(ns::Parser<int> const&) const"));
  EXPECT_THAT(found("operator<<"), ElementsAre("ns::operator<< <int>(ns::Parser<int> const&, int)"));
  EXPECT_THAT(found("Parser<int>::operator()"), ElementsAre("ns::Parser<int>::operator()(int)"));
  EXPECT_THAT(found("Parser<int>::operator bool"), ElementsAre("ns::Parser<int>::operator bool() const"));
  EXPECT_THAT(found("Parser<int>::operator std::vector<int>"), SizeIs(1));
  EXPECT_THAT(found("operator new(unsigned long, int, int)"), SizeIs(1));
  EXPECT_THAT(found("main::{lambda(int)#1}::operator()"), SizeIs(1));
}

TEST_F(ProgramSearch, LeavesOutThunksAndColdParts) {
  EXPECT_THAT(found("act"), ElementsAre("Derived::act(int)"));
  debugger_.mapped.clear();
  load({fixture("inlining_dwarf5")});
  EXPECT_THAT(found("split"), ElementsAre("split(int)"));
}

TEST_F(ProgramSearch, FindsCopiesByTheNameOfTheOriginal) {
  EXPECT_THAT(found("copied"), ElementsAre("copied", "copied.part.0"));
}

TEST_F(ProgramSearch, FindsAnEntryByAddress) {
  const Function* main = only("main");
  EXPECT_EQ(only(fmt::format("{:#x}", main->start)), main);
  EXPECT_THAT(found(fmt::format("{:#x}", main->start + 1)), IsEmpty());
  EXPECT_THAT(found("0xnumber"), IsEmpty());
}

TEST_F(ProgramSearch, LooksBeyondTheScopeOnlyIfNothingIsFoundInIt) {
  EXPECT_THAT(found("getenv"), ElementsAre("getenv"));
  EXPECT_EQ(only("main")->module, 0u);
}

TEST_F(ProgramSearch, SuggestsNearNames) {
  EXPECT_THAT(program().find("overlaoded").suggestions, ElementsAre("overloaded"));
  EXPECT_THAT(program().find("C_FUNCTION").suggestions, ElementsAre("c_function"));
  EXPECT_THAT(program().find("Parser::prase").suggestions, testing::Contains("Parser::parse"));
  EXPECT_THAT(program().find("loaded").suggestions, ElementsAre("overloaded"));
  EXPECT_THAT(program().find("qqqqqqqqqqqqqqqqqqqq").suggestions, IsEmpty());
  EXPECT_THAT(program().find("").suggestions, IsEmpty());
}

TEST_F(ProgramSearch, SuggestsTheOtherOverloads) {
  const std::vector<std::string> suggestions = program().find("overloaded(double)").suggestions;
  EXPECT_THAT(suggestions, SizeIs(4));
  EXPECT_THAT(suggestions, Each(StartsWith("ns::overloaded(")));
}

// Nobody types the names of inline namespaces, and few know them.
TEST_F(ProgramSearch, SuggestsWhatHasMoreStepsInItsPath) {
  EXPECT_THAT(program().find("ns::parse").suggestions, ElementsAre("ns::Parser::parse"));
  EXPECT_THAT(program().find("Parser::ns::parse").suggestions, IsEmpty());
}

TEST_F(ProgramSearch, CompletesNames) {
  EXPECT_THAT(program().complete("overl", 10), ElementsAre("overloaded"));
  EXPECT_THAT(program().complete("Parser::pa", 10), ElementsAre("Parser::parse"));
  EXPECT_THAT(program().complete("ns::Parser::pa", 10), ElementsAre("ns::Parser::parse"));
  EXPECT_THAT(program().complete("c", 2), SizeIs(2));
  EXPECT_THAT(program().complete("no_such", 10), IsEmpty());
  EXPECT_THAT(program().complete("", 5), SizeIs(5));
}

TEST_F(ProgramSearch, SaysWhereAFunctionIsInlined) {
  debugger_.mapped.clear();
  load({fixture("inlining_dwarf5")});
  const FunctionMatches found = program().find("only_inlined");
  EXPECT_THAT(found.functions, IsEmpty());
  ASSERT_THAT(found.inlined_at, SizeIs(1));
  EXPECT_THAT(found.inlined_at.front(), testing::ContainsRegex("/inlining.cpp:[0-9]+ \\(in enclosing\\(int\\)\\)$"));
  EXPECT_THAT(program().find("Counter<int>::middle").inlined_at, SizeIs(1));
  EXPECT_THAT(program().find("Counter<long>::middle").inlined_at, IsEmpty());
}

TEST(EditDistance, CountsSwapsAsOne) {
  EXPECT_EQ(edit_distance("parse", "parse", 3), 0u);
  EXPECT_EQ(edit_distance("prase", "parse", 3), 1u);
  EXPECT_EQ(edit_distance("pars", "parse", 3), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting", 3), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting", 2), 3u);
  EXPECT_EQ(edit_distance("", "ab", 5), 2u);
}

}  // namespace
}  // namespace flamb
