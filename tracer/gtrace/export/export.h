// A trace for other programs: Perfetto, chrome://tracing, spreadsheets.
//
// Each format is a writer with the functions of the concept ExportWriter (export_formats.h); what is exported, in
// which order and how much of it is decided here, once.
#pragma once

#include <string>

#include "tracer/gtrace/base/output.h"
#include "tracer/gtrace/base/selection.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

enum class ExportFormat { Perfetto, Chrome, Csv, Json };

struct ExportOptions {
  ExportFormat format = ExportFormat::Perfetto;
  Selection selection;
  uint64_t from_ns = 0, to_ns = UINT64_MAX;  // of the calls' entries
  uint64_t limit_bytes = 0;                  // 0: none
};

struct Exported {
  uint64_t calls = 0, commands = 0;
  uint64_t left_out = 0;        // selected, but beyond the limit
  uint64_t left_from_ns = 0;    // with a timeline: they are those entered from then on
  bool interrupted = false;
};

bool has_timeline(const model::Trace& trace);

// Invalid: the trace has no times and the format or a range of time needs them (exit status 3 is the caller's to give).
// Corrupt: the trace turns out to be damaged.
Result<Exported> export_trace(const model::Trace& trace, const ExportOptions& options, Output& out);

}  // namespace gt::tracer
