// gtrace digest: one number for what the program did.
#include "traces/store/digest.h"

#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/open.h"
#include "tracer/gtrace/output.h"
#include "traces/base/settings_cli.h"

namespace gt::tracer {

int digest_command(int argc, char** argv) {
  CLI::App app(
      "Prints one number for what the program did: the same for the same program, whatever its "
      "iteration "
      "count, its addresses and the machine.",
      "gtrace digest");
  std::string file;
  app.add_option("FILE", file, "The trace; the newest trace*.db here by default");
  if (const auto status = parse_arguments(app, argc, argv)) return *status;
  const Result<OpenedTrace> opened = open_trace(file);
  if (!opened) return fail("gtrace", opened.status());
  Output out;
  out.write(store::trace_digest(opened->trace) + "\n");
  return out.finish();
}

}  // namespace gt::tracer
