#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "collector.h"

namespace flamb {

// The line that shows how far a capture is, while it lives: which invocation, what was seen so far, the time elapsed.
class Progress {
 public:
  Progress(Invocations& invocations, Unit unit, std::uint64_t count, std::string trigger);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void show();

  Invocations& invocations_;
  Unit unit_;
  std::uint64_t count_;
  std::string trigger_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shown_ = began_;
};

}  // namespace flamb
