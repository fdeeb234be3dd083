// Where gmicrobench platform puts what it measured, and what that must not cost: a file that the user names is
// replaced; of the cached one nothing is lost that was measured better (traces/model/platform/platform_merge.h).
// Thread safety: values.
#pragma once

#include <optional>
#include <string>

#include "traces/base/command_line.h"
#include "traces/model/platform/platform_merge.h"

namespace gt::bench {

struct PlatformFile {
  std::string path;
  bool named = false;    // by the user
  bool limited = false;  // the curves end where --max-bytes says
  bool fills = false;    // --missing: it keeps what it has, whoever named it
  model::Wanted wanted = model::Wanted::All;

  // What stays there where it is not measured better: nothing in a file that is replaced, is damaged or is another
  // machine's.
  std::optional<model::Platform> before() const;
  // Why the result is not kept; empty: it is.
  std::string obstacle() const;
  // Gives what the file then holds.
  Result<model::Platform> keep(const model::Platform& fresh) const { return keep(fresh, wanted); }
  // The same of what is known while something is still measured.
  Status keep_so_far(const model::Platform& fresh) const;

 private:
  Result<model::Platform> keep(const model::Platform& fresh, model::Wanted what) const;
};

// Invalid: options that contradict each other.
Result<PlatformFile> platform_file(const Options& options);

}  // namespace gt::bench
