// The page that ganalyze makes of a trace, in a file that nobody else may read.
#pragma once

#include <string>

#include "tracer/gtrace/view/children.h"
#include "traces/base/status.h"

namespace gt::tracer::view {

// A new folder of ours alone, in $XDG_RUNTIME_DIR, $TMPDIR or /tmp. It is deleted with its page unless it is kept.
class PrivateFolder {
 public:
  static Result<PrivateFolder> make();
  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder() { remove(); }

  std::string page() const { return path_ + "/page.html"; }
  void keep() { kept_ = true; }
  void remove();  // now

 private:
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
  bool kept_ = false;
};

// Has the ganalyze that lies beside this program write the page of `trace` ("": the newest one here) to `page`. It also
// writes the profile, as it always does. What it says on stderr is in the answer.
Ended make_page(const std::string& trace, const std::string& page);

Result<std::string> read_page(const std::string& page);

// "file:///tmp/a%20b": the page's address, in which no character means anything to a shell. REQUIRES: an absolute path.
std::string file_address(const std::string& path);

}  // namespace gt::tracer::view
