#pragma once

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "contract.h"

// What the checks are written with.
namespace flamb::contract {

// Collects what did not hold. Checks go on after a failure, but for `Abandon`.
class Report {
 public:
  void fail(std::string line) { text_ += line + '\n'; }

  void expect(bool holds, std::string_view what) {
    if (!holds) fail(std::string(what));
  }

  template <class A, class B>
  void equal(const A& actual, const B& expected, std::string_view what) {
    if (!(actual == expected)) fail(fmt::format("{}: expected {}, got {}", what, expected, actual));
  }

  void contains(std::string_view text, std::string_view part, std::string_view what) {
    if (text.find(part) == text.npos) fail(fmt::format("{}: expected '{}' in '{}'", what, part, text));
  }

  template <class T>
  bool holds(const Result<T>& result, std::string_view what) {
    if (!result) fail(fmt::format("{}: {}", what, result.error().message));
    return result.has_value();
  }

  // A stop of this kind; its name says more than a number.
  bool stopped(const Result<Stop>& stop, Stop::Kind kind, std::string_view what);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string_view to_string(Stop::Kind kind);

// The functions of a file: name -> address and size in the file.
class Symbols {
 public:
  struct Symbol {
    Address address = 0;
    std::uint64_t size = 0;
  };
  static Symbols read(const std::string& path);

  // Where a function is in a module loaded at `bias`; 0 if there is none. The name as in the symbol table.
  Address at(std::string_view name, Address bias) const;
  bool within(Address address, std::string_view name, Address bias) const;

 private:
  std::map<std::string, Symbol, std::less<>> symbols_;
};

// The target of a check, launched and stopped at its entry.
class Program {
 public:
  Program(Host& host, Report& report);

  // Runs on to the function `ready`, where main has begun.
  bool run_to_ready();
  // Resumes past modules stops until something else.
  Result<Stop> resume();

  Address at(std::string_view function) const { return symbols_.at(function, bias_); }
  bool within(Address address, std::string_view function) const { return symbols_.within(address, function, bias_); }
  bool launched() const { return launched_; }
  Result<Address> return_address(ThreadId thread) const;

 private:
  Debugger& debugger_;
  Report& report_;
  Symbols symbols_;
  Address bias_ = 0;
  bool launched_ = false;
};

Result<std::uint64_t> read_word(Debugger& debugger, Address from);

std::span<const Check> run_checks();
std::span<const Check> stop_checks();
std::span<const Check> call_checks();
std::span<const Check> step_checks();

}  // namespace flamb::contract
