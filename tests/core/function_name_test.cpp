#include "program/function_name.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace flamb {
namespace {

// The parts of a name in a form that is easy to compare: "ns|Parser<int>|parse(char const*)const".
std::string parts(std::string_view text) {
  std::string result;
  for (const NameComponent& component : parse_function_name(text).components) {
    if (!result.empty()) result += "|";
    result += component.name;
    if (!component.trait.empty()) result += "{as " + component.trait + "}";
    if (component.arguments) result += "<" + *component.arguments + ">";
    if (component.parameters) result += "(" + *component.parameters + ")" + component.qualifiers;
  }
  return result;
}

struct PartsCase {
  std::string_view text;
  std::string_view expected;
};

constexpr PartsCase parts_cases[] = {
    {"foo", "foo"},
    {"foo(int, char*)", "foo(int,char*)"},
    {"foo (int)", "foo(int)"},
    {"foo(void)", "foo()"},
    {"a::b::c()", "a|b|c()"},
    {"foo() const", "foo()const"},
    {"foo() const &", "foo()const&"},
    {"foo<int>(int)", "foo<int>(int)"},
    {"foo(const char *, unsigned long)", "foo(char const*,unsigned long)"},
    {"(anonymous namespace)::f(int)", "(anonymous namespace)|f(int)"},
    {"main::{lambda(int)#1}::operator()(int) const", "main|{lambda(int)#1}|operator()(int)const"},
    {"main::<lambda(int)>::operator()(int) const", "main|<lambda(int)>|operator()(int)const"},
    {"f(int)::{lambda()#1}::operator()() const", "f(int)|{lambda()#1}|operator()()const"},
    {"A::f(int) const::Local::g()", "A|f(int)const|Local|g()"},
    {"foo[abi:cxx11](int)", "foo(int)"},
    {"foo[abi:v1]<int>(int)", "foo<int>(int)"},
    {"std::function<void (int)>::operator()(int) const", "std|function<void(int)>|operator()(int)const"},
    {"operator new(unsigned long)", "operator new(unsigned long)"},
    {"operator new[](unsigned long)", "operator new[](unsigned long)"},
    {"operator delete(void*)", "operator delete(void*)"},
    {"operator\"\" _x(char const*, unsigned long)", "operator\"\" _x(char const*,unsigned long)"},
    {"bool operator< <int>(A<int> const&)", "operator<<int>(A<int> const&)"},
    {"operator<< <int>(A<int>&, int)", "operator<<<int>(A<int>&,int)"},
    {"A::operator<(A const&) const", "A|operator<(A const&)const"},
    {"A::operator<=>(A const&) const", "A|operator<=>(A const&)const"},
    {"A::operator->()", "A|operator->()"},
    {"A::operator->*(int)", "A|operator->*(int)"},
    {"A::operator()<int>(int)", "A|operator()<int>(int)"},
    {"A::operator ()", "A|operator()"},
    {"A::operator[](int) const", "A|operator[](int)const"},
    {"A::operator,(int)", "A|operator,(int)"},
    {"A::operator bool() const", "A|operator bool()const"},
    {"A::operator bool", "A|operator bool"},
    {"A::operator std::vector<int, std::allocator<int> >()", "A|operator std::vector<int>()"},
    {"A::operator void (*)(int)()", "A|operator void(*)(int)()"},
    {"operators::operator_table()", "operators|operator_table()"},
    {"f<&(A::operator<(A const&))>(int)", "f<&(A::operator<(A const&))>(int)"},
    {"f<&A::operator-> >(int)", "f<&A::operator->>(int)"},
    {"f<(1>2)>(int)", "f<(1>2)>(int)"},
    {"Parser::~Parser()", "Parser|~Parser()"},
    {"static std::vector<int> const& foo(int)", "foo(int)"},
    {"foo(int) [clone .part.0] [clone .cold]", "foo(int)"},
    {"foo.constprop.0", "foo"},
    {"main.method", "main.method"},
    {"virtual thunk to A::f()", ""},
    {"alloc::vec::Vec<T,A>::push", "alloc|vec|Vec<T,A>|push"},
    {"<alloc::vec::Vec<u8>>::push", "alloc|vec|Vec<u8>|push"},
    {"<my::Type as core::fmt::Debug>::fmt", "my|Type{as Debug}|fmt"},
    {"core::ptr::drop_in_place::<[u8; 4]>", "core|ptr|drop_in_place<[u8;4]>"},
    {"my::run::{{closure}}", "my|run|{{closure}}"},
    {"call::<fn(i32) -> i32>::inner", "call<fn(i32)-> i32>|inner"},
    // what no one should type, but must not loop or crash
    {"", ""},
    {"::", ""},
    {"foo<int", "foo<int>"},
    {"f(const const int)", "f(const int const)"},
    {")", ")"}};

TEST(FunctionName, IsSplitIntoItsParts) {
  for (const PartsCase& each : parts_cases) EXPECT_EQ(parts(each.text), each.expected) << each.text;
}

struct MatchCase {
  std::string_view typed;
  std::string_view function;
  bool expected;
};

constexpr std::string_view parse = "ns::Parser<int>::parse(char const*) const";
constexpr std::string_view takes_string =
    "f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)";
constexpr std::string_view takes_map =
    "f(std::map<int, long, std::less<int>, std::allocator<std::pair<int const, long> > >*)";

const MatchCase match_cases[] = {
    {"parse", parse, true},
    {"Parser::parse", parse, true},
    {"Parser<int>::parse", parse, true},
    {"ns::Parser<int>::parse(const char*)", parse, true},
    {"ns::Parser<int>::parse(const char *) const", parse, true},
    {"::ns::Parser::parse", parse, true},
    {"::Parser::parse", parse, false},
    {"Parser<long>::parse", parse, false},
    {"parse(int)", parse, false},
    {"parse() const", parse, false},
    {"ns::parse", parse, false},
    {"Parser", parse, false},
    {"pars", parse, false},
    {"foo", "foo<int>(int)", true},
    {"foo<int>", "foo<int>(int)", true},
    {"foo<int>", "foo<long>(long)", false},
    {"foo<int>", "foo(int)", false},
    {"foo", "foo(int)::{lambda()#1}::operator()() const", false},
    {"ns::f", "ns::(anonymous namespace)::f(int)", true},
    {"::f", "(anonymous namespace)::f(int)", true},
    {"::f", "ns::f(int)", false},
    {"f(std::string const&)", takes_string, true},
    {"f(const std::string&)", takes_string, true},
    {"f(const std::string &)", takes_string, true},
    {"f(std::string)", takes_string, false},
    {takes_string, takes_string, true},
    {"f(std::map<int, long>*)", takes_map, true},
    {"f(std::map<int, int>*)", takes_map, false},
    {"f(int)", "f(int, std::less<int>)", false},
    {"std::string::append", "std::__cxx11::string::append(int)", true},
    {"f(int)", "f", true},  // of C: its parameters are not known
    {"operator<", "operator< <int>(A<int>)", true},
    {"operator<", "operator<<(A, int)", false},
    {"copy", "copy.isra.0", true},
    {"copy(int)", "copy(int) [clone .constprop.1]", true},
    {"Type::fmt", "<my::Type as core::fmt::Debug>::fmt", true},
    {"Debug::fmt", "<my::Type as core::fmt::Debug>::fmt", true},
    {"<my::Type as core::fmt::Display>::fmt", "<my::Type as core::fmt::Debug>::fmt", false},
    {"f", "non-virtual thunk to A::f()", false},
    {"", "f()", false}};

TEST(FunctionName, MatchesWhatWasTyped) {
  for (const MatchCase& each : match_cases) {
    EXPECT_EQ(matches(parse_function_name(each.typed), parse_function_name(each.function)), each.expected)
        << each.typed << " for " << each.function;
  }
}

TEST(FunctionName, GivesItsLastComponentsBare) {
  const FunctionName name = parse_function_name(parse);
  EXPECT_EQ(name.bare(1), "parse");
  EXPECT_EQ(name.bare(2), "Parser::parse");
  EXPECT_EQ(name.bare(9), "ns::Parser::parse");
}

}  // namespace
}  // namespace flamb
