// gtrace digest: one number for what the program did.
#include "traces/store/digest.h"

#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/base/open.h"
#include "tracer/gtrace/base/output.h"
#include "traces/base/command_line.h"

namespace gt::tracer {

int digest_command(int argc, char** argv) {
  CommandLine line("gtrace digest",
                   "Prints one number for what the program did: the same for the same program, whatever its "
                   "iteration count, its addresses and the machine.");
  std::string file;
  line.argument("FILE", file, "The trace; the newest trace*.db here by default");
  if (const auto status = line.parse(argc, argv)) return *status;
  const Result<OpenedTrace> opened = open_trace(file);
  if (!opened) return fail("gtrace", opened.status());
  Output out;
  out.write(store::trace_digest(opened->trace) + "\n");
  return out.finish();
}

}  // namespace gt::tracer
