// What is kept of what.
#include "microbench/platform_file.h"

namespace gt::bench {

std::optional<model::Platform> PlatformFile::before() const {
  if (named && wanted != model::Wanted::Missing) return std::nullopt;
  auto platform = model::read_platform_of_here(path);
  return platform ? std::optional(std::move(*platform)) : std::nullopt;
}

std::string PlatformFile::obstacle() const {
  if (named) return {};
  if (limited) return "its curves end at --max-bytes";
  if (wanted == model::Wanted::Chosen && !before()) return "the other devices were never measured";
  return {};
}

Result<model::Platform> PlatformFile::keep(const model::Platform& fresh) const {
  const auto old = before();
  model::Platform all = old ? model::merge_platforms(fresh, *old, wanted) : fresh;
  GT_TRY(model::write_platform(all, path));
  return all;
}

Result<PlatformFile> platform_file(const Options& options) {
  PlatformFile f;
  const bool one = options.integer("device").has_value(), missing = options.flag("missing");
  if (one && missing) return Status(Kind::Invalid, "--device and --missing exclude each other");
  f.named = !options.text("output").empty();
  f.path = f.named ? options.text("output") : model::platform_cache_path();
  if (f.path.empty()) return Status(Kind::Invalid, "no home folder for the cache: give -o FILE");
  f.limited = options.size("max-bytes").has_value();
  f.wanted = missing ? model::Wanted::Missing : one ? model::Wanted::Chosen : model::Wanted::All;
  return f;
}

}  // namespace gt::bench
