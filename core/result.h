#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace flamb {

// Whose doing an error is: it decides how the message reads and what the user can do about it.
enum class Fault {
  user,    // what was typed cannot be done
  target,  // the program under the debugger did something that ends the work
  flamb,   // flamb or the host debugger failed
};

struct Error {
  Fault fault = Fault::user;
  std::string message;      // what happened, naming the offending input; no trailing period or newline
  std::string next_action;  // what to do now; empty when there is nothing to suggest
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Fault fault, std::string message, std::string next_action = {}) {
  return tl::unexpected<Error>(Error{fault, std::move(message), std::move(next_action)});
}

}  // namespace flamb
