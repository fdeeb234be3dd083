#include "optimizer-rt/client/programs/includes.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include "traces/api/option_words.h"

namespace gt::virt {
namespace {

namespace fs = std::filesystem;

// Visits the names in `#include "name"` and `#include <name>`: views into the text.
template <class Visit>
void each_included(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto skip = [&line] {
      while (!line.empty() && std::isspace(static_cast<unsigned char>(line[0]))) line.remove_prefix(1);
    };
    skip();
    if (!line.starts_with('#')) continue;
    line.remove_prefix(1);
    skip();
    if (!line.starts_with("include")) continue;
    line.remove_prefix(7);
    skip();
    if (line.empty() || (line[0] != '"' && line[0] != '<')) continue;
    const size_t close = line.find(line[0] == '"' ? '"' : '>', 1);
    if (close != line.npos) visit(line.substr(1, close - 1));
  }
}

bool read_file(const fs::path& path, std::string& text) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  std::ifstream in(path, std::ios::binary);
  text.assign(std::istreambuf_iterator<char>(in), {});
  return in.good() || in.eof();
}

class Collector {
 public:
  explicit Collector(std::vector<std::string> folders) : folders_(std::move(folders)) { folders_.emplace_back("."); }

  // `beside`: the folder of the including file, from the root of what is collected.
  void scan(const std::string& text, const fs::path& beside) {
    each_included(text, [&](std::string_view name) {
      if (!beside.empty() && take((beside / name).lexically_normal())) return;
      take(fs::path(name).lexically_normal());
    });
  }
  std::vector<wire::IncludeFile> files;

 private:
  static constexpr size_t MostFiles = 4096;

  bool take(const fs::path& name) {
    if (seen_.contains(name) || files.size() >= MostFiles) return true;
    for (const std::string& folder : folders_) {
      std::string text;
      const fs::path path = name.is_absolute() ? name : fs::path(folder) / name;
      if (!read_file(path, text)) continue;
      seen_.insert(name);
      files.push_back({portable_name(name), portable_source(text)});
      scan(text, name.parent_path());
      return true;
    }
    return false;
  }

  std::vector<std::string> folders_;
  std::set<fs::path> seen_;
};

}  // namespace

std::vector<wire::IncludeFile> collect_includes(const std::string& source, const std::string& options) {
  Collector collector(api::split_options(options).include_folders);
  collector.scan(source, {});
  return std::move(collector.files);
}

// Files that are named from the root have a folder of their own in what is collected.
std::string portable_name(const fs::path& included) {
  return included.is_absolute() ? "rooted" + included.lexically_normal().string() : included.string();
}

std::string portable_source(const std::string& source) {
  std::string out;
  size_t done = 0;
  each_included(source, [&](std::string_view name) {
    if (!fs::path(name).is_absolute()) return;
    const auto at = static_cast<size_t>(name.data() - source.data());
    out += source.substr(done, at - done) + portable_name(name);
    done = at + name.size();
  });
  return done == 0 ? source : out + source.substr(done);
}

std::string portable_options(const std::string& options) {
  api::SplitOptions split = api::split_options(options);
  return split.include_folders.empty() ? options : std::move(split.others);
}

}  // namespace gt::virt
