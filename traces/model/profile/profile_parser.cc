// Text into a profile, line by line; whatever is wrong is named with its line and column.
#include <algorithm>
#include <limits>

#include "traces/model/profile/profile_keys.h"
#include "traces/model/profile/profile_rules.h"

namespace gt::model {
namespace {

const std::string VersionFirst = "`version = " + std::to_string(ProfileVersion) + "` must come ";

class Parser {
 public:
  Parser(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  Result<Profile> parse() {
    while (next_line()) {
      const size_t start = line_.find_first_not_of(" \t");
      if (start == std::string_view::npos || line_[start] == '#') continue;
      GT_TRY(line_[start] == '[' ? section(start) : assignment(start));
    }
    if (!versioned_) return wrong(0, "no `version` line: this is not a gtrace profile");
    if (!program_) return wrong(0, "no [program] section");
    const BrokenRule broken = check_rules(profile_, lines_);
    if (!broken.what.empty()) return wrong_at(broken.line, 0, broken.what);
    return std::move(profile_);
  }

 private:
  enum class In { Head, Program, Platform, Route, Site, Staging };

  bool next_line() {
    if (rest_.empty()) return false;
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    return true;
  }

  Status wrong(size_t column, const std::string& what) const {
    return wrong_at(std::max<size_t>(number_, 1), column, what);
  }
  Status wrong_at(size_t line, size_t column, const std::string& what, Kind kind = Kind::Corrupt) const {
    return {kind, std::string(name_) + ":" + std::to_string(line) + ":" + std::to_string(column + 1) + ": " + what};
  }

  // Only blanks and a comment may follow a value.
  Status check_tail(size_t from) const {
    ValueScan rest(line_, from);
    if (rest.at_end()) return {};
    return wrong(rest.next(), "nothing but a comment may follow here");
  }

  Status section(size_t start) {
    const size_t end = line_.find(']', start);
    if (end == std::string_view::npos) return wrong(start, "the section's name needs a `]`");
    GT_TRY(check_tail(end + 1));
    if (!versioned_) return wrong(start, VersionFirst + "before the first section");
    seen_ = 0;
    return begin(line_.substr(start + 1, end - start - 1), start);
  }

  Status begin(std::string_view name, size_t start) {
    const bool later = profile_.version >= 2;
    if (name == "program") {
      if (program_) return wrong(start, "a second [program] section");
      program_ = true;
      in_ = In::Program;
    } else if (name == "site") {
      in_ = In::Site;
      profile_.sites.emplace_back().max_bytes = std::numeric_limits<uint64_t>::max();
      lines_.sites.push_back(number_);
    } else if (name == "platform" && later) {
      if (profile_.platform) return wrong(start, "a second [platform] section");
      in_ = In::Platform;
      profile_.platform.emplace();
    } else if (name == "route" && later) {
      in_ = In::Route;
      profile_.routes.emplace_back();
      lines_.routes.push_back(number_);
    } else if (name == "staging" && later) {
      in_ = In::Staging;
      profile_.staging.emplace_back();
      lines_.staging.push_back(number_);
    } else {
      return wrong(start, later ? "unknown section; the sections are [program], [platform], [route], [site], [staging]"
                                : "unknown section; those of version 1 are [program] and [site]");
    }
    return {};
  }

  Status assignment(size_t start) {
    const size_t name_end = std::min(line_.find_first_of(" \t=", start), line_.size());
    const std::string_view name = line_.substr(start, name_end - start);
    const size_t equals = line_.find_first_not_of(" \t", name_end);
    if (equals == std::string_view::npos || line_[equals] != '=') {
      return wrong(start, "a line is `key = value`, `[section]` or `# comment`");
    }
    ValueScan value(line_, equals + 1);
    if (value.at_end()) return wrong(equals, "a value is missing after `=`");
    switch (in_) {
      case In::Head:
        return version(name, value, start);
      case In::Program:
        return set(ProgramKeys, profile_, name, value, start);
      case In::Platform:
        return set(PlatformKeys, *profile_.platform, name, value, start);
      case In::Route:
        return set(RouteKeys, profile_.routes.back(), name, value, start);
      case In::Site:
        return set(SiteKeys, profile_.sites.back(), name, value, start);
      case In::Staging:
        return set(StagingKeys, profile_.staging.back(), name, value, start);
    }
    return {};
  }

  Status version(std::string_view name, ValueScan& value, size_t start) {
    if (name != "version") return wrong(start, VersionFirst + "first: this is not a gtrace profile");
    if (versioned_) return wrong(start, "a second `version`");
    uint64_t v = 0;
    const std::string_view item = value.item();
    if (const char* what = Whole::read(v, item)) return wrong(value.column(), what);
    if (v == 0) return wrong(value.column(), "versions start at 1");
    if (v > ProfileVersion) {
      return wrong_at(number_, value.column(), "made by a later gtrace (version " + std::string(item) + ")",
                      Kind::Unsupported);
    }
    profile_.version = static_cast<int>(v);
    versioned_ = true;
    return check_tail(value.next());
  }

  template <class T, size_t N>
  Status set(const std::array<ProfileKey<T>, N>& keys, T& target, std::string_view name, ValueScan& value,
             size_t start) {
    static_assert(N <= 32, "seen_ has a bit for each key");
    const auto k =
        std::find_if(keys.begin(), keys.end(), [&](const auto& candidate) { return candidate.name == name; });
    if (k == keys.end()) return wrong(start, "unknown key");
    if (k->since > profile_.version) {
      return wrong(start, "unknown key in version " + std::to_string(profile_.version) + "; version " +
                              std::to_string(k->since) + " has it");
    }
    const uint32_t bit = 1u << (k - keys.begin());
    if ((seen_ & bit) && !k->repeated) return wrong(start, "this key was given already in this section");
    seen_ |= bit;
    if (const char* what = k->read(target, value)) return wrong(value.column(), what);
    return check_tail(value.next());
  }

  std::string_view rest_, line_, name_;
  size_t number_ = 0;  // of line_, from 1
  In in_ = In::Head;
  bool versioned_ = false, program_ = false;
  uint32_t seen_ = 0;  // keys of the present section, one bit each
  Profile profile_;
  ProfileLines lines_;
};

}  // namespace

Result<Profile> parse_profile(std::string_view text, std::string_view name) { return Parser(text, name).parse(); }

}  // namespace gt::model
