// The files that the sources of a recording include: put into a folder, where builds find them.
//
//   FOLDER/srv/app/common.h    a file as the program saw it, below the folder
//   -I FOLDER/srv/app          in place of the recorded -I, and of the program's working folder
//
// Nothing is written outside the folder, whatever the recording says.
// Thread safety: constant after opening.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "traces/base/fd.h"
#include "traces/contents/content_reader.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

class RecordedHeaders {
 public:
  // Of one process. The trace says where its relative paths began (fact `folder.PROCESS`).
  RecordedHeaders(const contents::ContentReader& reader, const model::Trace& trace, uint32_t process);

  bool any() const { return !files_.empty(); }
  // Invalid: a path leads out of the folder. Corrupt: the file of contents is damaged.
  Status write_into(const std::string& folder) const;
  // The recorded options of a build; what they include is below `folder`.
  std::string options(std::string_view recorded, const std::string& folder) const;
  uint64_t hash() const { return hash_; }  // of paths and numbers of bytes

 private:
  const contents::ContentReader& reader_;  // must outlive it
  uint32_t process_;
  std::string working_folder_;
  std::vector<contents::UsedFile> files_;
  uint64_t hash_ = 0;
};

// A folder for them among the temporary files, as long as this lives. It has the same name each time, for drivers whose
// caches know builds by their options; another one where somebody uses that, or a folder is there that is not ours.
class HeaderFolder {
 public:
  HeaderFolder() = default;
  HeaderFolder(const HeaderFolder&) = delete;
  HeaderFolder& operator=(const HeaderFolder&) = delete;
  ~HeaderFolder();

  Status fill(const RecordedHeaders& headers);
  const std::string& path() const { return path_; }  // empty: there is none

 private:
  std::string path_;
  Fd lock_;  // the folder itself: who replays holds it
};

}  // namespace gt::tracer
