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
  Parser(std::string_view text, std::string_view name) : x_rest(text), x_name(name) {}

  Result<Profile> parse() {
    while (next_line()) {
      const size_t start = x_line.find_first_not_of(" \t");
      if (start == std::string_view::npos || x_line[start] == '#') continue;
      GT_TRY(x_line[start] == '[' ? section(start) : assignment(start));
    }
    if (!x_versioned) return wrong(0, "no `version` line: this is not a gtrace profile");
    if (!x_program) return wrong(0, "no [program] section");
    const BrokenRule broken = check_rules(x_profile, x_lines);
    if (!broken.what.empty()) return wrong_at(broken.line, 0, broken.what);
    return std::move(x_profile);
  }

 private:
  enum class In { Head, Program, Platform, Route, Site, Staging };

  bool next_line() {
    if (x_rest.empty()) return false;
    const size_t end = std::min(x_rest.find('\n'), x_rest.size());
    x_line = x_rest.substr(0, end);
    if (x_line.ends_with('\r')) x_line.remove_suffix(1);
    x_rest.remove_prefix(std::min(end + 1, x_rest.size()));
    ++x_number;
    return true;
  }

  Status wrong(size_t column, const std::string& what) const {
    return wrong_at(std::max<size_t>(x_number, 1), column, what);
  }
  Status wrong_at(size_t line, size_t column, const std::string& what, Kind kind = Kind::Corrupt) const {
    return {kind, std::string(x_name) + ":" + std::to_string(line) + ":" + std::to_string(column + 1) + ": " + what};
  }

  // Only blanks and a comment may follow a value.
  Status check_tail(size_t from) const {
    ValueScan rest(x_line, from);
    if (rest.at_end()) return {};
    return wrong(rest.next(), "nothing but a comment may follow here");
  }

  Status section(size_t start) {
    const size_t end = x_line.find(']', start);
    if (end == std::string_view::npos) return wrong(start, "the section's name needs a `]`");
    GT_TRY(check_tail(end + 1));
    if (!x_versioned) return wrong(start, VersionFirst + "before the first section");
    x_seen = 0;
    return begin(x_line.substr(start + 1, end - start - 1), start);
  }

  Status begin(std::string_view name, size_t start) {
    const bool later = x_profile.version >= 2;
    if (name == "program") {
      if (x_program) return wrong(start, "a second [program] section");
      x_program = true;
      x_in = In::Program;
    } else if (name == "site") {
      x_in = In::Site;
      x_profile.sites.emplace_back().max_bytes = std::numeric_limits<uint64_t>::max();
      x_lines.sites.push_back(x_number);
    } else if (name == "platform" && later) {
      if (x_profile.platform) return wrong(start, "a second [platform] section");
      x_in = In::Platform;
      x_profile.platform.emplace();
    } else if (name == "route" && later) {
      x_in = In::Route;
      x_profile.routes.emplace_back();
      x_lines.routes.push_back(x_number);
    } else if (name == "staging" && later) {
      x_in = In::Staging;
      x_profile.staging.emplace_back();
      x_lines.staging.push_back(x_number);
    } else {
      return wrong(start, later ? "unknown section; the sections are [program], [platform], [route], [site], [staging]"
                                : "unknown section; those of version 1 are [program] and [site]");
    }
    return {};
  }

  Status assignment(size_t start) {
    const size_t name_end = std::min(x_line.find_first_of(" \t=", start), x_line.size());
    const std::string_view name = x_line.substr(start, name_end - start);
    const size_t equals = x_line.find_first_not_of(" \t", name_end);
    if (equals == std::string_view::npos || x_line[equals] != '=') {
      return wrong(start, "a line is `key = value`, `[section]` or `# comment`");
    }
    ValueScan value(x_line, equals + 1);
    if (value.at_end()) return wrong(equals, "a value is missing after `=`");
    switch (x_in) {
      case In::Head:
        return version(name, value, start);
      case In::Program:
        return set(ProgramKeys, x_profile, name, value, start);
      case In::Platform:
        return set(PlatformKeys, *x_profile.platform, name, value, start);
      case In::Route:
        return set(RouteKeys, x_profile.routes.back(), name, value, start);
      case In::Site:
        return set(SiteKeys, x_profile.sites.back(), name, value, start);
      case In::Staging:
        return set(StagingKeys, x_profile.staging.back(), name, value, start);
    }
    return {};
  }

  Status version(std::string_view name, ValueScan& value, size_t start) {
    if (name != "version") return wrong(start, VersionFirst + "first: this is not a gtrace profile");
    if (x_versioned) return wrong(start, "a second `version`");
    uint64_t v = 0;
    const std::string_view item = value.item();
    if (const char* what = Whole::read(v, item)) return wrong(value.column(), what);
    if (v == 0) return wrong(value.column(), "versions start at 1");
    if (v > ProfileVersion) {
      return wrong_at(x_number, value.column(), "made by a later gtrace (version " + std::string(item) + ")",
                      Kind::Unsupported);
    }
    x_profile.version = static_cast<int>(v);
    x_versioned = true;
    return check_tail(value.next());
  }

  template <class T, size_t N>
  Status set(const std::array<ProfileKey<T>, N>& keys, T& target, std::string_view name, ValueScan& value,
             size_t start) {
    static_assert(N <= 32, "x_seen has a bit for each key");
    const auto k =
        std::find_if(keys.begin(), keys.end(), [&](const auto& candidate) { return candidate.name == name; });
    if (k == keys.end()) return wrong(start, "unknown key");
    if (k->since > x_profile.version) {
      return wrong(start, "unknown key in version " + std::to_string(x_profile.version) + "; version " +
                              std::to_string(k->since) + " has it");
    }
    const uint32_t bit = 1u << (k - keys.begin());
    if ((x_seen & bit) && !k->repeated) return wrong(start, "this key was given already in this section");
    x_seen |= bit;
    if (const char* what = k->read(target, value)) return wrong(value.column(), what);
    return check_tail(value.next());
  }

  std::string_view x_rest, x_line, x_name;
  size_t x_number = 0;  // of x_line, from 1
  In x_in = In::Head;
  bool x_versioned = false, x_program = false;
  uint32_t x_seen = 0;  // keys of the present section, one bit each
  Profile x_profile;
  ProfileLines x_lines;
};

}  // namespace

Result<Profile> parse_profile(std::string_view text, std::string_view name) { return Parser(text, name).parse(); }

}  // namespace gt::model
