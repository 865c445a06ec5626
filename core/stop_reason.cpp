#include "stop_reason.h"

#include <fmt/format.h>

#include <csignal>

#include "proc.h"

namespace flamb {

std::string stop_reason(const Stop& stop, std::optional<double> timed_out) {
  switch (stop.kind) {
    case Stop::Kind::exited: return fmt::format("the process exited with status {}", stop.code);
    case Stop::Kind::killed: return fmt::format("the process was killed by {}", stop.description);
    case Stop::Kind::exec: return "the program replaced itself (exec)";
    case Stop::Kind::signal: return fmt::format("the program received {}", stop.description);
    case Stop::Kind::interrupted: return timed_out ? fmt::format("timed out after {} s", *timed_out) : "interrupted";
    case Stop::Kind::user: return fmt::format("stopped at {}", stop.description);
    default: return stop.description.empty() ? "the target stopped" : stop.description;
  }
}

bool is_handled_signal(const TargetInfo& target, int signal) {
  switch (signal) {
    case SIGCHLD:
    case SIGURG:
    case SIGWINCH:
    case SIGCONT: return true;  // they end no process
    default: return target.is_local && catches_signal(static_cast<pid_t>(target.pid), signal);
  }
}

}  // namespace flamb
