// libFuzzer: any bytes as trace.db. Seeds: traces/samples. Reading ends in an error or in a trace whose readers work.
//
// Checksums are not compared in fuzzing builds (GT_NO_CHECKSUMS), and the header's marks are mended, so that inputs
// reach the checks behind them.
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "traces/model/fold/fold.h"
#include "traces/model/ssa/ssa.h"
#include "traces/store/digest.h"
#include "traces/store/trace_db.h"

namespace {

// One file for all inputs. A memfd would not do: SQLite follows the link in /proc/self/fd and finds no such path.
struct TraceFile {
  std::string path = "/dev/shm/gt_trace_db_fuzz_XXXXXX";
  int fd = ::mkstemp(path.data());
  ~TraceFile() { ::unlink(path.c_str()); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const TraceFile trace_file;
  const int file = trace_file.fd;
  const std::string& path = trace_file.path;
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  if (size >= 100) {
    constexpr unsigned char Mark[] = {0x47, 0x54, 0x52, 0x43};
    if (::pwrite(file, "SQLite format 3", 16, 0) != 16 || ::pwrite(file, Mark, 4, 68) != 4) return 0;
  }
  const gt::Result<gt::model::Trace> trace = gt::store::read_trace(path);
  if (!trace) return 0;
  (void)gt::store::trace_digest(*trace);
  const gt::model::Ssa ssa(*trace);
  std::vector<int> counts;
  for (const auto& s : trace->shapes) counts.push_back(s.values());
  for (const auto& s : trace->streams) {
    uint64_t left = 100'000;
    gt::model::expand(s.nodes, counts, [&](auto, auto) { return --left > 0; });
  }
  return 0;
}
