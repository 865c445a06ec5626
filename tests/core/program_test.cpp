#include "program/program.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "program_fixture.h"

namespace flamb {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr Address bias = 0x555555554000;

TEST_F(ProgramTest, FindsTheFunctionThatHoldsAnAddress) {
  load({fixture("calls_pie"), fixture("libfixture.so")}, bias);
  const Function* function = only("only_called");
  ASSERT_NE(function, nullptr);
  EXPECT_GT(function->start, bias);
  EXPECT_EQ(program().function_at(function->start), function);
  EXPECT_EQ(program().function_at(function->end - 1), function);
  EXPECT_NE(program().function_at(function->end), function);
  EXPECT_EQ(program().function_at(bias), nullptr);  // the file's header
  EXPECT_EQ(program().function_at(1), nullptr);
  EXPECT_EQ(function->module, 0u);
  EXPECT_EQ(program().module_at(function->start), 0u);
  EXPECT_EQ(program().module_at(library_bias + (1ull << 32)), 1u);
  EXPECT_EQ(program().module_at(1), std::nullopt);
}

TEST_F(ProgramTest, ListsFunctionsByAddressOnceEach) {
  load({fixture("names")});
  const std::vector<const Function*> functions = program().functions(0);
  ASSERT_GT(functions.size(), 50u);
  for (std::size_t index = 1; index < functions.size(); ++index) {
    EXPECT_LT(functions[index - 1]->start, functions[index]->start);
    EXPECT_LT(functions[index]->start, functions[index]->end);
  }
}

TEST_F(ProgramTest, NamesAFunctionByItsBestSymbol) {
  load({fixture("names")});
  EXPECT_EQ(only("__c_alias")->name, "c_function");
  EXPECT_EQ(only("__c_alias"), only("c_function"));
  EXPECT_EQ(only("Parser<int>::Parser")->linkage_name, "_ZN2ns6ParserIiEC1Ev");
  EXPECT_EQ(only("_ZN2ns6ParserIiEC2Ev"), only("_ZN2ns6ParserIiEC1Ev"));
  EXPECT_EQ(only("chosen")->name, "chosen");
  EXPECT_TRUE(only("chosen")->is_ifunc);
  EXPECT_FALSE(only("chosen_slow")->is_ifunc);
}

TEST_F(ProgramTest, KnowsColdPartsAsFunctionsOfTheirOwn) {
  load({fixture("inlining_dwarf5")});
  std::vector<std::string> cold;
  for (const Function* function : program().functions(0)) {
    if (function->is_cold_part) cold.push_back(function->name);
  }
  EXPECT_THAT(cold, ElementsAre("split(int) [clone .cold]"));
  EXPECT_EQ(only("split")->name, "split(int)");
}

TEST_F(ProgramTest, NamesCodeWithoutSymbolsByItsOffset) {
  load({fixture("calls_pie")}, bias);
  const Address start = only("only_called")->start;
  const Address end = only("only_called")->end;
  debugger_.mapped.clear();
  load({fixture("calls_stripped")}, bias);
  const Function* function = program().function_at(start + 1);
  ASSERT_NE(function, nullptr);
  EXPECT_EQ(function->start, start);
  EXPECT_EQ(function->end, end);
  EXPECT_EQ(function->name, fmt::format("calls_stripped+{:#x}", start - bias));
  EXPECT_EQ(function->linkage_name, "");
}

TEST_F(ProgramTest, ReadsSymbolsFromASeparateFile) {
  load({fixture("inlining_apart")});
  const Function* function = only("enclosing");
  ASSERT_NE(function, nullptr);
  EXPECT_EQ(function->name, "enclosing(int)");
  EXPECT_THAT(frames_[program().frame(*function)].file, HasSubstr("inlining.cpp"));
}

TEST_F(ProgramTest, TakesTheSystemsLibrariesOutOfScope) {
  load({"/usr/bin/python3.11", "/lib/x86_64-linux-gnu/libc.so.6", fixture("libfixture.so")});
  EXPECT_TRUE(program().in_scope(0));
  EXPECT_FALSE(program().in_scope(1));
  EXPECT_TRUE(program().in_scope(2));
  EXPECT_FALSE(program().in_scope_at(only("malloc")->start));
  EXPECT_TRUE(program().in_scope_at(only("library_function")->start));
  EXPECT_FALSE(program().in_scope_at(1));
}

TEST_F(ProgramTest, TakesATriggersOwnModuleIntoScopeUnlessGlobsSaySo) {
  load({fixture("calls_pie"), "/lib/x86_64-linux-gnu/libc.so.6"});
  program().take_into_scope(only("malloc")->start);
  EXPECT_TRUE(program().in_scope(1));
  ASSERT_TRUE(program().refresh());
  EXPECT_TRUE(program().in_scope(1)) << "after libraries have come";
}

TEST_F(ProgramTest, SaysWhichGlobsMatchNothing) {
  load({fixture("calls_pie"), "/lib/x86_64-linux-gnu/libc.so.6"}, 0, {"libc.so*", "nosuch*"});
  program().take_into_scope(only("only_called")->start);
  EXPECT_FALSE(program().in_scope(0)) << "globs say what is in scope";
  EXPECT_THAT(program().unmatched_globs(), ElementsAre("nosuch*"));
}

TEST_F(ProgramTest, TakesOnlyWhatTheGlobsNameIntoScope) {
  load({fixture("calls_pie"), "/lib/x86_64-linux-gnu/libc.so.6", fixture("libfixture.so")}, 0,
       {"libc.so*", "*/libfix*"});
  EXPECT_FALSE(program().in_scope(0));
  EXPECT_TRUE(program().in_scope(1));
  EXPECT_TRUE(program().in_scope(2));
}

TEST_F(ProgramTest, KeepsFunctionsOfModulesThatStay) {
  load({fixture("calls_pie"), fixture("libfixture.so")}, bias);
  const Function* before = only("library_function");
  debugger_.mapped.insert(debugger_.mapped.begin() + 1, {fixture("names"), 0x10000000, false});
  ASSERT_TRUE(program().refresh());
  EXPECT_EQ(only("library_function"), before);
  EXPECT_EQ(before->module, 2u);

  debugger_.mapped.pop_back();
  ASSERT_TRUE(program().refresh());
  EXPECT_THAT(program().find("library_function").functions, IsEmpty());
}

TEST_F(ProgramTest, MovesFunctionsWithTheirModule) {
  load({fixture("calls_pie")});
  const Address in_file = only("only_called")->start;
  debugger_.mapped.front().load_bias = bias;
  ASSERT_TRUE(program().refresh());
  EXPECT_EQ(only("only_called")->start, in_file + bias);
}

TEST_F(ProgramTest, ReadsAFileThatWasBuiltAnew) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "flamb_built_anew";
  std::filesystem::copy_file(fixture("calls_pie"), path, std::filesystem::copy_options::overwrite_existing);
  load({path});
  EXPECT_EQ(program().find("only_called").functions.size(), 1u);
  std::filesystem::remove(path);
  std::filesystem::copy_file(fixture("names"), path);
  ASSERT_TRUE(program().refresh());
  EXPECT_THAT(program().find("only_called").functions, IsEmpty());
  EXPECT_EQ(program().find("c_function").functions.size(), 1u);
  std::filesystem::remove(path);
}

TEST_F(ProgramTest, SkipsWhatItCannotReadWithOneWarning) {
  const std::string text = testing::TempDir() + "flamb_not_elf";
  std::ofstream(text) << "no ELF file";
  load({fixture("calls_pie"), "/no/such/file.so", text});
  EXPECT_EQ(program().modules().size(), 1u);
  EXPECT_THAT(debugger_.printed, HasSubstr("warning: cannot read the symbols of /no/such/file.so: "));
  EXPECT_THAT(debugger_.printed, HasSubstr("1 more file"));
  debugger_.printed.clear();
  ASSERT_TRUE(program().refresh());
  EXPECT_EQ(debugger_.printed, "");
  std::filesystem::remove(text);
}

TEST_F(ProgramTest, DefinesSymbolsInScopeTheProgramFirst) {
  load({fixture("calls_static"), fixture("libfixture.so"), "/lib/x86_64-linux-gnu/libc.so.6"});
  ASSERT_NE(program().definition("library_function"), nullptr);
  // A program that exports nothing has it for itself only: others are bound to the library's.
  EXPECT_EQ(program().definition("library_function")->module, 1u);
  EXPECT_EQ(program().definition("only_called")->module, 0u);
  EXPECT_EQ(program().definition("no_such_symbol"), nullptr);
}

TEST_F(ProgramTest, FindsExportsOfAllModules) {
  load({fixture("calls_pie"), fixture("libfixture.so"), "/lib/x86_64-linux-gnu/libc.so.6"});
  EXPECT_EQ(program().exported("library_function")->module, 1u);
  EXPECT_EQ(program().definition("malloc"), nullptr);
  EXPECT_EQ(program().exported("malloc")->module, 2u);
  EXPECT_TRUE(program().exported("strlen")->is_ifunc);
  EXPECT_EQ(program().exported("only_called"), nullptr);
}

TEST_F(ProgramTest, MakesFrames) {
  load({fixture("calls_pie"), fixture("libfixture.so"), "/lib/x86_64-linux-gnu/libc.so.6"}, bias);
  const Frame& own = frames_[program().frame(*only("Shape::area"))];
  EXPECT_EQ(own.name, "Shape::area(int) const");
  EXPECT_EQ(own.module, "calls_pie");
  EXPECT_THAT(own.file, testing::EndsWith("/fixtures/calls.cpp"));
  EXPECT_GT(own.line, 0u);
  EXPECT_FALSE(own.inlined);
  EXPECT_EQ(program().frame(*only("Shape::area")), program().frame(*only("Shape::area")));

  EXPECT_EQ(frames_[program().import_frame("_Z3fooi")], (Frame{"foo(int)", "", "", 0, false}));
  EXPECT_EQ(frames_[program().import_frame("puts")], (Frame{"puts", "libc.so.6", "", 0, false}));
  EXPECT_EQ(frames_[program().import_frame("library_function")].module, "libfixture.so");
  EXPECT_EQ(frames_[program().unknown_frame(bias + 0x10)].name, "calls_pie+0x10");
  EXPECT_EQ(frames_[program().unknown_frame(0x1234)].name, "[jit] 0x1234");
}

TEST_F(ProgramTest, ReadsDebiansStrippedPython) {
  load({"/usr/bin/python3.11"});
  const Function* call = only("PyObject_Call");
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(program().function_at(call->start + 4), call);
  const std::vector<const Function*> all = program().functions(0);
  const auto is_named_by_offset = [](const Function* function) { return function->name.starts_with("python3.11+0x"); };
  EXPECT_GT(std::count_if(all.begin(), all.end(), is_named_by_offset), 1000);
}

}  // namespace
}  // namespace flamb
