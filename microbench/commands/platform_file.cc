// What is kept of what.
#include "microbench/commands/platform_file.h"

namespace gt::bench {

std::optional<model::Platform> PlatformFile::before() const {
  if (named && !fills) return std::nullopt;
  auto platform = model::read_platform_of_here(path);
  return platform ? std::optional(std::move(*platform)) : std::nullopt;
}

std::string PlatformFile::obstacle() const {
  if (named || (fills && !limited)) return {};
  if (limited) return "its curves end at --max-bytes";
  if (wanted == model::Wanted::Chosen && !before()) return "the other devices were never measured";
  return {};
}

Status PlatformFile::keep_so_far(const model::Platform& fresh) const {
  model::Platform known = fresh;
  known.unlisted = true;
  return keep(known, model::Wanted::Chosen).status();
}

Result<model::Platform> PlatformFile::keep(const model::Platform& fresh, model::Wanted what) const {
  const auto old = before();
  model::Platform all = old ? model::merge_platforms(fresh, *old, what) : fresh;
  GT_TRY(model::write_platform(all, path));
  return all;
}

Result<PlatformFile> platform_file(const Options& options) {
  PlatformFile f;
  const bool number = options.integer("device").has_value(), missing = options.flag("missing");
  const bool one = number || !options.text("only").empty();
  if (number && missing) return Status(Kind::Invalid, "--device and --missing exclude each other");
  if (number && !options.text("only").empty()) return Status(Kind::Invalid, "--device and --only exclude each other");
  f.named = !options.text("output").empty();
  f.path = f.named ? options.text("output") : model::platform_cache_path();
  if (f.path.empty()) return Status(Kind::Invalid, "no home folder for the cache: give -o FILE");
  f.limited = options.size("max-bytes").has_value();
  f.fills = missing;
  f.wanted = one ? model::Wanted::Chosen : missing ? model::Wanted::Missing : model::Wanted::All;
  return f;
}

}  // namespace gt::bench
