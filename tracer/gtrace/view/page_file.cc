#include "tracer/gtrace/view/page_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "traces/base/fd.h"
#include "traces/base/own_path.h"

namespace gt::tracer::view {
namespace {

std::string temporary_folder() {
  for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    const char* folder = std::getenv(variable);
    if (folder && folder[0] == '/' && ::access(folder, W_OK | X_OK) == 0) return folder;
  }
  return "/tmp";
}

}  // namespace

Result<PrivateFolder> PrivateFolder::make() {
  std::string path = temporary_folder() + "/gtrace-view-XXXXXX";
  if (!::mkdtemp(path.data())) return system_error("cannot make a folder " + path, errno);  // mode 0700
  return PrivateFolder(std::move(path));
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), kept_(other.kept_) {}

void PrivateFolder::remove() {
  if (path_.empty() || kept_) return;
  ::unlink(page().c_str());
  ::rmdir(path_.c_str());
  path_.clear();
}

Ended make_page(const std::string& trace, const std::string& page) {
  std::vector<std::string> words{program_beside("ganalyze"), "--html", page};
  if (!trace.empty()) words.insert(words.end(), {"--", trace});
  return run_quietly(std::move(words), Errors::Kept);
}

Result<std::string> read_page(const std::string& page) {
  const Fd file(::open(page.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat st {};
  if (!file.open() || ::fstat(file.get(), &st) != 0) return system_error("cannot read " + page, errno);
  std::string text(static_cast<size_t>(st.st_size), '\0');
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = ::read(file.get(), text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return system_error("cannot read " + page, n < 0 ? errno : EIO);
    at += static_cast<size_t>(n);
  }
  return text;
}

std::string file_address(const std::string& path) {
  constexpr const char* Plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._/";
  std::string out = "file://";
  for (const char c : path) {
    if (c != '\0' && std::strchr(Plain, c))
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace gt::tracer::view
