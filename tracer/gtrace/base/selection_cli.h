// The flags --calls, --object, --thread and --no-memory, which several commands have.
#pragma once

#include "tracer/gtrace/base/selection.h"
#include "traces/base/command_line.h"

namespace gt::tracer {

// Invalid: a set that is none, a thread that the trace has not. REQUIRES: the command has the four flags.
inline Result<Selection> read_selection(const Options& settings, const model::Trace& trace) {
  Selection selection;
  Result<CallSet> calls = CallSet::parse(settings.text("calls"));
  if (!calls) return calls.status();
  selection.calls = std::move(*calls);
  Result<std::optional<model::ThreadId>> thread = find_thread(trace, settings.integer("thread"));
  if (!thread) return thread.status();
  selection.thread = *thread;
  selection.object = settings.text("object");
  selection.memory = !settings.flag("no-memory");
  return selection;
}

}  // namespace gt::tracer
