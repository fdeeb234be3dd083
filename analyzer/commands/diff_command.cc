// ganalyze diff A B: what changed in data movement. Exit status 0: the same structure, 1: not.
#include "analyzer/commands/commands.h"
#include "analyzer/compare/comparison_report.h"
#include "analyzer/commands/inputs.h"
#include "analyzer/commands/usage.h"

namespace gt::analyzer {
namespace {

constexpr int ExitDifferent = 1;  // as diff(1)

}  // namespace

int diff_command(int argc, char** argv) {
  CommandLine line("ganalyze diff",
                   "Compares what two traces move: sites, transfers, kernels, loops, findings. Exit status 0: the "
                   "same structure, 1: not.");
  const Options& options = line.options();
  std::string a, b;
  line.argument("A", a, "A trace", CommandLine::Need::Required);
  line.argument("B", b, "The trace to compare it with: another run, another version, another machine",
                CommandLine::Need::Required);
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const Status usage = check_settings(line); !usage.ok()) return fail(ProgramName, usage);
  const auto platform = load_platform(options.text("platform"));
  if (!platform.ok()) return fail(ProgramName, platform.status());
  const auto inputs =
      read_inputs({a, b}, options.real("min-ratio").value_or(0.1), platform->has_value() ? &**platform : nullptr);
  if (!inputs.ok()) return fail(ProgramName, inputs.status());
  const Comparison comparison = compare(*inputs);
  const std::vector<Difference> differences = find_differences(*inputs, comparison);
  const Pair pair{(*inputs)[0], (*inputs)[1], comparison, differences};
  const size_t top = options.integer("top").value_or(0);
  const int end =
      print_text(options.flag("json") ? format_diff_json(pair) : format_diff(pair, top, report_style(options)));
  return end != ExitOk || same_structure(differences) ? end : ExitDifferent;
}

}  // namespace gt::analyzer
