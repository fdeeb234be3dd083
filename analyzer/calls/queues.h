// What is known of a program's queues: whether there is only one, and whether it keeps the order of commands.
#pragma once

#include <optional>

#include "analyzer/calls/call_plan.h"

namespace gt::analyzer {

// The class of the only queue of the process that has commands, when it is one queue, created once, that runs commands
// in order, and used by one thread. Nothing when there are more, or it is not known. Cost: O(folded trace).
std::optional<model::ClassId> only_in_order_queue(const model::Trace& trace, const CallPlans& plans);

}  // namespace gt::analyzer
