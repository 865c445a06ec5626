#pragma once

#include <memory>
#include <vector>

#include "collector.h"
#include "tracepoints/tracepoints.h"

namespace flamb {

// What the agent has recorded, after the tracepoints are lifted: the invocations in order of entry, each with its tree,
// thread and number. An invocation that had not returned says why not, with `reason` for those that were still open.
Result<std::vector<std::unique_ptr<Invocation>>> read_invocations(const Tracepoints& tracepoints,
                                                                  const CallTree::Options& options, Unit unit,
                                                                  const std::string& reason);

}  // namespace flamb
