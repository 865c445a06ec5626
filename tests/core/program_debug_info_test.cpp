#include <gmock/gmock.h>
#include <link.h>

#include "program_fixture.h"

namespace flamb {
namespace {

class ProgramInlining : public ProgramTest {
 protected:
  static std::vector<std::string> files() {
    std::vector<std::string> files = {"inlining_dwarf5", "inlining_dwarf4", "inlining_no_pie", "inlining_split",
                                      "inlining_apart"};
    if (FLAMB_HAS_CLANG) files.insert(files.end(), {"inlining_clang5", "inlining_clang4", "inlining_clang_split"});
    return files;
  }

  // "name at depth" of all that is inlined into a function, each once.
  std::vector<std::string> inlined_into(std::string_view function) {
    std::vector<std::string> found;
    for (const InlinedRange& range : program().inlined(*only(function))) {
      found.push_back(fmt::format("{} at {}", frames_[range.frame].name, range.depth));
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }
};

TEST_F(ProgramInlining, IsNamedAndNested) {
  for (const std::string& file : files()) {
    SCOPED_TRACE(file);
    debugger_.mapped.clear();
    load({fixture(file)});
    EXPECT_THAT(inlined_into("enclosing"),
                testing::ElementsAre("deep::Counter<int>::innermost(int) at 1", "deep::Counter<int>::middle(int) at 0",
                                     "file_local(int) at 1", "only_inlined(int) at 0"));
    EXPECT_THAT(inlined_into("complain"), testing::IsEmpty());
  }
}

// GCC gives functions that are local to a file no linkage name; they are to look as if they had one.
TEST_F(ProgramInlining, IsNamedAsASymbolWouldBe) {
  for (const std::string file : {"inlining_dwarf5", "inlining_dwarf4", "inlining_split"}) {
    SCOPED_TRACE(file);
    debugger_.mapped.clear();
    load({fixture(file)});
    EXPECT_THAT(inlined_into("enclosing_local"),
                testing::ElementsAre(
                    "(anonymous namespace)::hidden((anonymous namespace)::Point const&, char const*, unsigned long, "
                    "(anonymous namespace)::Point* const*, ...) at 0",
                    "enclosing_local(int)::{lambda(int)#1}::operator()(int) const at 0"));
  }
}

TEST_F(ProgramInlining, IsSortedAndLiesWithinWhatEnclosesIt) {
  for (const std::string& file : files()) {
    SCOPED_TRACE(file);
    debugger_.mapped.clear();
    load({fixture(file)});
    const Function& enclosing = *only("enclosing");
    std::vector<InlinedRange> open;
    Address last = 0;
    for (const InlinedRange& range : program().inlined(enclosing)) {
      EXPECT_LE(last, range.start);
      EXPECT_LT(range.start, range.end);
      EXPECT_LE(enclosing.start, range.start);
      EXPECT_LE(range.end, enclosing.end);
      open.resize(range.depth);
      if (range.depth > 0) {
        EXPECT_LE(open.back().start, range.start);
        EXPECT_LE(range.end, open.back().end);
      }
      open.push_back(range);
      last = range.start;
    }
  }
}

TEST_F(ProgramInlining, SaysWhereFunctionsAreDeclared) {
  for (const std::string& file : files()) {
    SCOPED_TRACE(file);
    debugger_.mapped.clear();
    load({fixture(file)}, file == "inlining_no_pie" ? 0 : 0x555555554000);
    const Function& enclosing = *only("enclosing");
    ASSERT_FALSE(program().inlined(enclosing).empty());
    const Frame inlined = frames_[program().inlined(enclosing).front().frame];
    EXPECT_THAT(inlined.file, testing::EndsWith("/fixtures/inlining.cpp"));
    EXPECT_GT(inlined.line, 0u);
    EXPECT_EQ(inlined.module, file);
    EXPECT_TRUE(inlined.inlined);
    const Frame own = frames_[program().frame(enclosing)];
    EXPECT_EQ(own.file, inlined.file);
    EXPECT_GT(own.line, inlined.line);  // it stands below in the source
    EXPECT_FALSE(own.inlined);
  }
}

TEST_F(ProgramInlining, IsEmptyWithoutDebugInformation) {
  load({fixture("calls_stripped")});
  EXPECT_THAT(program().inlined(*program().functions(0).front()), testing::IsEmpty());
}

struct CallersView {
  Address return_address = 0;
  Address stack_after_return = 0;
  Address frame_pointer = 0;
};

__attribute__((noinline)) CallersView look_at_caller() {
  const auto* frame = static_cast<const Address*>(__builtin_frame_address(0));
  return {frame[1], reinterpret_cast<Address>(frame + 2), frame[0]};
}

// With a frame pointer, because its address is asked for.
__attribute__((noinline)) std::pair<CallersView, Address> call_with_frame_pointer() {
  const CallersView view = look_at_caller();
  return {view, reinterpret_cast<Address>(static_cast<const Address*>(__builtin_frame_address(0)) + 1)};
}

// The rules are right if they give the slot that the running code itself knows.
TEST_F(ProgramTest, FindsTheCallersReturnSlot) {
  const auto find_bias = [](dl_phdr_info* info, std::size_t, void* found) {
    *static_cast<Address*>(found) = info->dlpi_addr;  // the program comes first
    return 1;
  };
  Address own_bias = 0;
  dl_iterate_phdr(find_bias, &own_bias);
  load({"/proc/self/exe"}, own_bias);

  const auto [view, slot] = call_with_frame_pointer();
  EXPECT_EQ(program().frame_slot(view.return_address, view.stack_after_return, view.frame_pointer), slot);
  EXPECT_EQ(program().frame_slot(0x10, 0, 0), std::nullopt);
}

TEST_F(ProgramTest, FindsReturnSlotsRelativeToTheStackPointer) {
  load({"/usr/bin/python3.11"});
  // At a function's first instruction the slot is where the stack pointer points.
  const Function* call = only("PyObject_Call");
  EXPECT_EQ(program().frame_slot(call->start + 1, 0x7ffe0000, 0x1), 0x7ffe0000u);
}

}  // namespace
}  // namespace flamb
