#include "transport/executor/calls/include_files.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "traces/api/option_words.h"
#include "transport/link/hello/sha256.h"

namespace gt::exec {
namespace {

namespace fs = std::filesystem;

// A path that stays inside the folder that it is put under.
bool stays_inside(const fs::path& path) {
  if (path.empty() || !path.is_relative()) return false;
  for (const fs::path& part : path)
    if (part == "..") return false;
  return path.has_filename() && path.string().find('\0') == std::string::npos;
}

bool write_file(const fs::path& path, const std::string& text) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  return out.good();
}

// A cryptographic sum: nobody can make a build that a driver's cache takes for another one's.
std::string name_of(const std::vector<wire::IncludeFile>& files, std::string_view sources) {
  wire::Sha256 sum;
  const auto add = [&sum](std::string_view text) {
    const uint64_t size = text.size();
    sum.add({reinterpret_cast<const uint8_t*>(&size), sizeof size});
    sum.add(as_bytes(text));
  };
  add(sources);
  for (const wire::IncludeFile& file : files) {
    add(file.path);
    add(file.text);
  }
  return wire::hex_text(sum.finish());
}

// "": the system refused.
std::string make_folder(const std::string& name, bool alone) {
  std::error_code failed;
  const std::string start = (fs::temp_directory_path(failed) / "gtrace-build-").string();
  if (failed) return {};
  const std::string wanted = start + name;
  if (alone) fs::remove_all(wanted, failed);
  if (::mkdir(wanted.c_str(), S_IRWXU) == 0) return wanted;
  std::string other = start + "XXXXXX";
  return ::mkdtemp(other.data()) ? other : std::string();
}

}  // namespace

std::optional<IncludeFiles> IncludeFiles::write(const std::vector<wire::IncludeFile>& files, std::string_view sources,
                                                bool alone) {
  if (files.empty()) return IncludeFiles(std::string());
  const std::string folder = make_folder(name_of(files, sources), alone);
  if (folder.empty()) return std::nullopt;
  IncludeFiles written(folder);
  for (const wire::IncludeFile& file : files) {
    const fs::path path(file.path);
    if (!stays_inside(path) || !write_file(fs::path(folder) / path, file.text)) return std::nullopt;
  }
  return written;
}

IncludeFiles::~IncludeFiles() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

std::string rewrite_options(const std::string& options, const std::string& folder) {
  const std::string others = api::split_options(options).others;
  if (folder.empty()) return others;
  return "-I " + folder + (others.empty() ? "" : " ") + others;
}

}  // namespace gt::exec
