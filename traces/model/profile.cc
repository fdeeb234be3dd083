// The profile's text: one table of keys per section says how each is read, written and explained.
#include "traces/model/profile.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <tuple>

namespace gt::model {
namespace {

// Codecs: how a kind of value stands in the file. read() gives nullptr, or what is wrong with the
// text.-----------

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

struct QuotedText {
  static void write(const std::string& v, std::string& out) {
    out += '"';
    for (const char c : v) {
      if (c == '"' || c == '\\') {
        out += {'\\', c};
      } else if (is_control(c)) {
        char hex[8];
        std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned>(c) & 0xffu);
        out += hex;
      } else {
        out += c;
      }
    }
    out += '"';
  }

  // `text` is a whole token: token() below has found its closing quote.
  static const char* read(std::string& v, std::string_view text) {
    if (text.size() < 2 || text.front() != '"') return "a text in double quotes is wanted";
    text = text.substr(1, text.size() - 2);
    v.clear();
    while (!text.empty()) {
      if (is_control(text[0])) return "a control character must be written \\xNN";
      if (text[0] != '\\') {
        v += text[0];
        text.remove_prefix(1);
      } else if (!read_escape(v, text)) {
        return "only \\\\, \\\" and \\xNN are known escapes";
      }
    }
    return nullptr;
  }

 private:
  static bool read_escape(std::string& v, std::string_view& text) {
    if (text.size() >= 2 && (text[1] == '"' || text[1] == '\\')) {
      v += text[1];
      text.remove_prefix(2);
      return true;
    }
    if (text.size() < 4 || text[1] != 'x') return false;
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + 4, byte, 16);
    if (error != std::errc() || end != text.data() + 4) return false;
    v += static_cast<char>(byte);
    text.remove_prefix(4);
    return true;
  }
};

const char* read_whole(uint64_t& v, std::string_view text, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v, base);
  if (error == std::errc::result_out_of_range) return "the number does not fit into 64 bits";
  return error == std::errc() && end == text.data() + text.size() ? nullptr
                                                                  : "a whole number is wanted";
}

struct Whole {
  static void write(uint64_t v, std::string& out) { out += std::to_string(v); }
  static const char* read(uint64_t& v, std::string_view text) { return read_whole(v, text, 10); }
};

struct Offset {
  static void write(uint64_t v, std::string& out) {
    char hex[24];
    std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(v));
    out += hex;
  }
  static const char* read(uint64_t& v, std::string_view text) {
    if (!text.starts_with("0x")) return "an offset is wanted, like 0x1a2b";
    return read_whole(v, text.substr(2), 16);
  }
};

struct Real {  // never negative; inf is a value: transfers without any kernel
  static void write(double v, std::string& out) {
    std::array<char, 64> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), v).ptr;
    out.append(digits.data(), end);
  }
  static const char* read(double& v, std::string_view text) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
    if (error != std::errc() || end != text.data() + text.size()) return "a number is wanted";
    return std::isnan(v) || std::signbit(v) ? "the number must not be negative" : nullptr;
  }
};

struct Bool {
  static void write(bool v, std::string& out) { out += v ? "true" : "false"; }
  static const char* read(bool& v, std::string_view text) {
    v = text == "true";
    return v || text == "false" ? nullptr : "true or false is wanted";
  }
};

struct BuildId {
  static void write(const std::string& v, std::string& out) { QuotedText::write(v, out); }
  static const char* read(std::string& v, std::string_view text) {
    if (const char* wrong = QuotedText::read(v, text)) return wrong;
    const bool hex = v.find_first_not_of("0123456789abcdef") == std::string::npos;
    return hex && v.size() <= 128 ? nullptr : "a build-id is hexadecimal, in lower case";
  }
};

struct PolicyWord {
  static void write(const std::string& v, std::string& out) { out += v; }
  static const char* read(std::string& v, std::string_view text) {
    constexpr std::array<std::string_view, 7> Known = {"auto",   "standard", "opencl", "locked",
                                                       "hybrid", "pin",      "staged"};
    v = text;
    return std::find(Known.begin(), Known.end(), text) != Known.end()
               ? nullptr
               : "the policies are auto, standard, opencl, locked, hybrid, pin and staged";
  }
};

// --- The keys ---

template <class T>
struct Key {
  std::string_view name, help;
  void (*write)(const T&, std::string&);
  const char* (*read)(T&, std::string_view);
};

template <auto Member, class Codec, class T>
constexpr Key<T> key(std::string_view name, std::string_view help) {
  return {name, help, [](const T& t, std::string& out) { Codec::write(t.*Member, out); },
          [](T& t, std::string_view text) { return Codec::read(t.*Member, text); }};
}

using P = Profile;
constexpr std::array ProgramKeys = {
    key<&P::program, QuotedText, P>("path", "the executable that was traced"),
    key<&P::build_id, BuildId, P>("build_id", "its build-id; another program ignores this file"),
    key<&P::trace_digest, QuotedText, P>("trace_digest", "which trace this was made from"),
    key<&P::dispatch_ratio, Real, P>("dispatch_ratio",
                                     "time in transfers / time in kernels, on the devices"),
    key<&P::eligible, Bool, P>("eligible", "false: the optimizer leaves the program alone"),
};

using S = ProfileSite;
constexpr std::array SiteKeys = {
    key<&S::build_id, BuildId, S>("build_id", "of the module that allocates; empty: it has none"),
    key<&S::module, QuotedText, S>("module", "file name of that module"),
    key<&S::offset, Offset, S>("offset", "return address of the allocating call, in the module"),
    key<&S::where, QuotedText, S>("where", "function and source line, for people"),
    key<&S::call, QuotedText, S>("call", "the allocation function, for people"),
    key<&S::min_bytes, Whole, S>("min_bytes", "smaller allocations are left alone"),
    key<&S::max_bytes, Whole, S>("max_bytes", "larger allocations are left alone"),
    key<&S::typical_bytes, Whole, S>("typical_bytes", "mean size in the trace: costs are predicted for it"),
    key<&S::allocations, Whole, S>("allocations", "how many the trace has"),
    key<&S::transfers_each, Real, S>("transfers_each", "transfers for one allocation, on average"),
    key<&S::h2d_bytes, Whole, S>("h2d_bytes", "sent to devices from here, in all"),
    key<&S::d2h_bytes, Whole, S>("d2h_bytes", "received from devices here, in all"),
    key<&S::transfer_ns, Whole, S>("transfer_ns", "time of those transfers, in all"),
    key<&S::policy, PolicyWord, S>(
        "policy", "auto (the cost model decides), standard, opencl, locked, hybrid, pin, staged"),
};

// --- Writing ---

template <class T, size_t N>
void write_section(std::string& out, std::string_view name, const std::array<Key<T>, N>& keys,
                   const T& value) {
  out.append("\n[").append(name).append("]\n");
  for (const Key<T>& k : keys) {
    out.append(k.name).append(" = ");
    k.write(value, out);
    out += '\n';
  }
}

template <class T, size_t N>
void explain(std::string& out, std::string_view section, const std::array<Key<T>, N>& keys) {
  out.append("#\n# [").append(section).append("]\n");
  for (const Key<T>& k : keys) {
    out.append("#   ").append(k.name);
    out.append(16 - std::min<size_t>(15, k.name.size()), ' ').append(k.help).append("\n");
  }
}

// --- Reading ---

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
    GT_TRY(finish_site());
    GT_TRY(check_sites());
    return std::move(x_profile);
  }

 private:
  enum class In { Head, Program, Site };

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
  Status wrong_at(size_t line, size_t column, const std::string& what,
                  Kind kind = Kind::Corrupt) const {
    return {kind, std::string(x_name) + ":" + std::to_string(line) + ":" +
                      std::to_string(column + 1) + ": " + what};
  }

  // Only blanks and a comment may follow a value.
  Status check_tail(size_t from) const {
    const size_t more = x_line.find_first_not_of(" \t", from);
    if (more == std::string_view::npos || x_line[more] == '#') return {};
    return wrong(more, "nothing but a comment may follow here");
  }

  Status section(size_t start) {
    const size_t end = x_line.find(']', start);
    if (end == std::string_view::npos) return wrong(start, "the section's name needs a `]`");
    GT_TRY(check_tail(end + 1));
    if (!x_versioned) return wrong(start, "`version = 1` must come before the first section");
    GT_TRY(finish_site());
    const std::string_view name = x_line.substr(start + 1, end - start - 1);
    x_seen = 0;
    if (name == "program") {
      if (x_program) return wrong(start, "a second [program] section");
      x_program = true;
      x_in = In::Program;
      return {};
    }
    if (name != "site") {
      return wrong(start, "unknown section; the sections are [program] and [site]");
    }
    x_in = In::Site;
    x_profile.sites.emplace_back();
    x_profile.sites.back().max_bytes = std::numeric_limits<uint64_t>::max();
    x_site_lines.push_back(x_number);
    return {};
  }

  // One value, from `start`: up to its closing quote, or up to a blank or `#`.
  std::string_view token(size_t start) const {
    size_t end = start;
    if (x_line[start] != '"') {
      end = std::min(x_line.find_first_of(" \t#", start), x_line.size());
      return x_line.substr(start, end - start);
    }
    for (end = start + 1; end < x_line.size(); ++end) {
      if (x_line[end] == '\\') {
        ++end;
      } else if (x_line[end] == '"') {
        return x_line.substr(start, end + 1 - start);
      }
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
    const size_t at = x_line.find_first_not_of(" \t", equals + 1);
    if (at == std::string_view::npos || x_line[at] == '#') {
      return wrong(equals, "a value is missing after `=`");
    }
    const std::string_view value = token(at);
    if (value.empty()) return wrong(at, "the text has no closing quote");
    GT_TRY(check_tail(at + value.size()));
    switch (x_in) {
      case In::Head:
        return version(name, value, start, at);
      case In::Program:
        return set(ProgramKeys, x_profile, name, value, start, at);
      case In::Site:
        return set(SiteKeys, x_profile.sites.back(), name, value, start, at);
    }
    return {};
  }

  Status version(std::string_view name, std::string_view value, size_t start, size_t at) {
    if (name != "version") {
      return wrong(start, "`version = 1` must come first: this is not a gtrace profile");
    }
    if (x_versioned) return wrong(start, "a second `version`");
    uint64_t v = 0;
    if (const char* what = Whole::read(v, value)) return wrong(at, what);
    if (v == 0) return wrong(at, "versions start at 1");
    if (v > ProfileVersion) {
      return wrong_at(x_number, at, "made by a later gtrace (version " + std::string(value) + ")",
                      Kind::Unsupported);
    }
    x_profile.version = static_cast<int>(v);
    x_versioned = true;
    return {};
  }

  template <class T, size_t N>
  Status set(const std::array<Key<T>, N>& keys, T& target, std::string_view name,
             std::string_view value, size_t start, size_t at) {
    static_assert(N <= 32, "x_seen has a bit for each key");
    const auto k = std::find_if(keys.begin(), keys.end(),
                                [&](const Key<T>& candidate) { return candidate.name == name; });
    if (k == keys.end()) return wrong(start, "unknown key");
    const uint32_t bit = 1u << (k - keys.begin());
    if (x_seen & bit) return wrong(start, "this key was given already in this section");
    x_seen |= bit;
    const char* what = k->read(target, value);
    return what ? wrong(at, what) : Status();
  }

  Status finish_site() {
    if (x_in != In::Site) return {};
    const ProfileSite& s = x_profile.sites.back();
    const size_t line = x_site_lines.back();
    if (s.build_id.empty() && s.module.empty()) {
      return wrong_at(line, 0, "a site needs a build_id or a module");
    }
    if (s.module.find('/') != std::string::npos) {
      return wrong_at(line, 0, "a site's module is a file name without directories");
    }
    if (s.offset == 0) return wrong_at(line, 0, "a site needs an offset other than 0");
    if (s.min_bytes > s.max_bytes) {
      return wrong_at(line, 0, "min_bytes is larger than max_bytes");
    }
    if (std::isinf(s.transfers_each)) return wrong_at(line, 0, "transfers_each must be finite");
    return {};
  }

  // Two sites that claim the same allocation contradict each other.
  Status check_sites() const {
    const auto& sites = x_profile.sites;
    std::vector<size_t> order(sites.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto place = [&](size_t i) {
      const ProfileSite& s = sites[i];
      // With a build-id the file's name does not matter.
      return std::tuple(std::string_view(s.build_id),
                        s.build_id.empty() ? std::string_view(s.module) : std::string_view(),
                        s.offset);
    };
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::tuple(place(a), sites[a].min_bytes, a) <
             std::tuple(place(b), sites[b].min_bytes, b);
    });
    for (size_t n = 1; n < order.size(); ++n) {
      const size_t a = order[n - 1], b = order[n];
      if (place(a) == place(b) && sites[b].min_bytes <= sites[a].max_bytes) {
        return wrong_at(x_site_lines[std::max(a, b)], 0,
                        "the site of line " + std::to_string(x_site_lines[std::min(a, b)]) +
                            " has the same place, and sizes in common");
      }
    }
    return {};
  }

  std::string_view x_rest, x_line, x_name;
  size_t x_number = 0;  // of x_line, from 1
  In x_in = In::Head;
  bool x_versioned = false, x_program = false;
  uint32_t x_seen = 0;  // keys of the present section, one bit each
  Profile x_profile;
  std::vector<size_t> x_site_lines;
};

}  // namespace

std::string format_profile(const Profile& profile) {
  std::string out =
      "# gtrace profile: the allocations of a program that feed host-device transfers.\n"
      "# `goptimize run` reads it. You may edit it: a line is `key = value`, text stands in double "
      "quotes,\n"
      "# `#` starts a comment. Check an edited file with `ganalyze --check FILE`.\n";
  explain(out, "program", ProgramKeys);
  explain(out, "site", SiteKeys);
  out += "\nversion = " + std::to_string(ProfileVersion) + "\n";
  write_section(out, "program", ProgramKeys, profile);
  for (const ProfileSite& s : profile.sites) write_section(out, "site", SiteKeys, s);
  return out;
}

Result<Profile> parse_profile(std::string_view text, std::string_view name) {
  return Parser(text, name).parse();
}

}  // namespace gt::model
