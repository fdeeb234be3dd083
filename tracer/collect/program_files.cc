#include "tracer/collect/program_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "tracer/collect/included_name.h"
#include "traces/api/option_words.h"

namespace gt::tracer {

namespace fs = std::filesystem;

namespace {

constexpr size_t MostFiles = 4096;
constexpr uint64_t MostBytes = 64 << 20;  // of one file

bool read_file(const fs::path& path, std::string& text) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > MostBytes || error) return false;
  std::ifstream in(path, std::ios::binary);
  text.assign(std::istreambuf_iterator<char>(in), {});
  return in.good() || in.eof();
}

class Search {
 public:
  explicit Search(std::vector<fs::path> folders) : folders_(std::move(folders)) {}

  // `beside`: the folder of the including file; empty: it is none.
  void scan(std::string_view text, const fs::path& beside) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      const std::string_view name = included_name(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!name.empty()) take(name, beside);
    }
  }
  IncludedFiles found;

 private:
  void take(const fs::path& name, const fs::path& beside) {
    std::vector<fs::path> folders = folders_;
    if (!beside.empty()) folders.insert(folders.begin(), beside);
    for (const fs::path& folder : folders) {
      const fs::path path = (folder / name).lexically_normal();
      if (seen_.contains(path)) return;
      std::string text;
      if (found.files.size() >= MostFiles || !read_file(path, text)) continue;
      seen_.insert(path);
      found.files.push_back({path.string(), text});
      return scan(text, path.parent_path());
    }
    if (seen_.insert(name).second) ++found.not_found;
  }

  std::vector<fs::path> folders_;
  std::set<fs::path> seen_;
};

// Of a process that is there no more, where the recording began.
std::string folder_of(int64_t pid) {
  std::error_code error;
  const fs::path folder = fs::read_symlink(fmt::format("/proc/{}/cwd", pid), error);
  return error ? fs::current_path(error).string() : folder.string();
}

}  // namespace

IncludedFiles included_files(std::string_view source, std::string_view options, const std::string& folder) {
  std::vector<fs::path> folders;
  for (const std::string& given : api::split_options(options).include_folders)
    folders.push_back(fs::path(folder) / given);
  folders.emplace_back(folder);
  Search search(std::move(folders));
  search.scan(source, {});
  return std::move(search.found);
}

void ProgramFiles::after_call(const TracedThread& thread) {
  const PendingCall& call = thread.pending;
  const bool builds = call.attributes->options >= 0 && call.attributes->creates == model::ObjectKind::Unknown;
  if (!builds || !contents_.kept() || call.programs.empty()) return;
  const std::string_view source = texts_.source_of(call.programs[0]);
  if (source.find("include") == source.npos) return;
  if (!looked_at_.emplace(thread.process->index, call.programs[0], call.options).second) return;
  std::string_view options;
  if (call.options != model::NoIndex) options = as_text(tables_.trace.blobs[call.options].bytes);
  options = options.substr(0, options.find('\0'));
  const std::string& folder =
      folders_.try_emplace(thread.process->index, folder_of(thread.process->pid)).first->second;
  const IncludedFiles found = included_files(source, options, folder);
  for (const IncludedFiles::File& file : found.files) contents_.add_file(*thread.process, file.path, file.text);
  not_found_ += found.not_found;
}

void ProgramFiles::add_facts(std::vector<std::pair<std::string, std::string>>& facts) const {
  facts.emplace_back("lost.included_files", fmt::format("{}", not_found_));
  for (const auto& [process, folder] : folders_) facts.emplace_back(fmt::format("folder.{}", process), folder);
}

}  // namespace gt::tracer
