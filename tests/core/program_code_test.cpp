#include <gmock/gmock.h>

#include <cstring>

#include "program/elf_image.h"
#include "program_fixture.h"

namespace flamb {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Not;

constexpr Address bias = 0x555555554000;

// Where the calls and jumps of a function go that leave it: read from its bytes.
std::vector<Address> targets(const std::string& path, const Function& function, Address loaded_at) {
  const auto image = ElfImage::open(path);
  const Address start = function.start - loaded_at;
  const ElfImage::Section* section = (*image)->section_at(start);
  const std::byte* code = section->bytes.data() + (start - section->header.sh_addr);
  std::vector<Address> found;
  for (Address at = 0; at + 6 <= function.end - function.start; ++at) {
    std::int32_t distance = 0;
    const bool is_direct = code[at] == std::byte{0xe8} || code[at] == std::byte{0xe9};
    const bool is_indirect =
        code[at] == std::byte{0xff} && (code[at + 1] == std::byte{0x15} || code[at + 1] == std::byte{0x25});
    if (!is_direct && !is_indirect) continue;
    const Address length = is_direct ? 5 : 6;
    std::memcpy(&distance, code + at + length - sizeof distance, sizeof distance);
    found.push_back(function.start + at + length + static_cast<Address>(std::int64_t{distance}));
  }
  return found;
}

class ProgramImports : public ProgramTest {
 protected:
  std::vector<std::string> imports_called_by(const std::string& file, const std::string& function) {
    std::vector<std::string> found;
    for (const Address target : targets(fixture(file), *only(function), debugger_.mapped.front().load_bias)) {
      const std::string_view import = program().imported_at(target);
      if (!import.empty()) found.emplace_back(import);
    }
    return found;
  }
};

TEST_F(ProgramImports, AreKnownByPltEntryOrSlot) {
  for (const std::string file : {"calls_pie", "calls_no_pie", "calls_no_plt", "calls_cet", "calls_relr"}) {
    SCOPED_TRACE(file);
    debugger_.mapped.clear();
    load({fixture(file), fixture("libfixture.so")}, file == "calls_no_pie" ? 0 : bias);
    EXPECT_THAT(imports_called_by(file, "call_library"), testing::ElementsAre("library_function"));
    EXPECT_THAT(imports_called_by(file, "call_libc"), testing::ElementsAre("puts"));
    EXPECT_EQ(program().imported_at(only("call_libc")->start), "");
  }
}

TEST_F(ProgramImports, NameTheIfuncThatAStaticProgramCalls) {
  load({fixture("calls_static")});
  EXPECT_THAT(imports_called_by("calls_static", "call_ifunc"), testing::ElementsAre("strlen"));
}

TEST_F(ProgramImports, AreKnownWithoutSymbols) {
  load({fixture("calls_pie")}, bias);
  const std::vector<Address> called = targets(fixture("calls_pie"), *only("call_libc"), bias);
  debugger_.mapped.clear();
  load({fixture("calls_stripped")}, bias);
  std::vector<std::string_view> imports;
  for (const Address target : called) imports.push_back(program().imported_at(target));
  EXPECT_THAT(imports, Contains("puts"));
}

TEST_F(ProgramTest, FindsFunctionsWhoseAddressIsTaken) {
  std::vector<std::string> files = {"calls_pie", "calls_no_pie", "calls_no_plt", "calls_cet", "calls_relr"};
  if (FLAMB_HAS_CLANG) files.push_back("calls_clang");
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    debugger_.mapped.clear();
    load({fixture(file), fixture("libfixture.so"), "/lib/x86_64-linux-gnu/libc.so.6"});
    const std::vector<std::string> taken = names(program().address_taken());
    for (const char* name : {"in_table", "in_constant_table", "passed_on", "stored", "Shape::area(int) const",
                             "library_callback", "main"}) {
      EXPECT_THAT(taken, Contains(name));
    }
    for (const char* name : {"only_called", "call_through(int (*)(int), int)", "call_library", "_fini"}) {
      EXPECT_THAT(taken, Not(Contains(name)));
    }
    for (const Function* function : program().address_taken()) EXPECT_TRUE(program().in_scope(function->module));
  }
}

TEST_F(ProgramTest, FindsFunctionsWhoseAddressIsTakenInAStaticProgram) {
  load({fixture("calls_static")});
  const std::vector<std::string> taken = names(program().address_taken());
  EXPECT_THAT(taken, AllOf(Contains("in_table"), Contains("in_constant_table"), Contains("passed_on"),
                           Contains("stored"), Contains("Shape::area(int) const"), Contains("library_callback")));
  EXPECT_THAT(taken, AllOf(Not(Contains("only_called")), Not(Contains("call_library"))));
}

TEST_F(ProgramTest, FindsFunctionsWhoseAddressIsTakenWithoutSymbols) {
  load({fixture("calls_pie")});
  const Address taken = only("passed_on")->start;
  const Address called = only("only_called")->start;
  debugger_.mapped.clear();
  load({fixture("calls_stripped")});
  std::vector<Address> found;
  for (const Function* function : program().address_taken()) found.push_back(function->start);
  EXPECT_THAT(found, Contains(taken));
  EXPECT_THAT(found, Not(Contains(called)));
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
}

}  // namespace
}  // namespace flamb
