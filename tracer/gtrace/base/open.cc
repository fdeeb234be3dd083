// Finds and reads a trace.
#include "tracer/gtrace/base/open.h"

#include <sys/stat.h>

namespace gt::tracer {

Result<OpenedTrace> open_trace(const std::string& file) {
  OpenedTrace opened;
  opened.path = file;
  if (file.empty()) {
    Result<std::string> newest = store::newest_trace(".");
    if (!newest) return newest.status();
    opened.path = std::move(*newest);
  }
  Result<model::Trace> trace = store::read_trace(opened.path);
  if (!trace) return trace.status();
  opened.trace = std::move(*trace);
  struct stat st {};
  if (::stat(opened.path.c_str(), &st) == 0) opened.file_bytes = static_cast<uint64_t>(st.st_size);
  return opened;
}

}  // namespace gt::tracer
