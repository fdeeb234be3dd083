// Include files that a client sent with a build, in a private folder for the time of the build.
//
// The folder's name follows from the sources and the files: the same build has the same options whenever it is made, so
// that drivers find in their caches what they built before; and another one has others, since some of them do not look
// into what is included. Who makes the folder owns it. Where the same is built twice at once the second folder has a
// random name.
// Ownership: the folder goes with the value. Thread safety: values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/protocol/messages.h"

namespace gt::exec {

class IncludeFiles {
 public:
  // Nothing: a path leads out of the folder, or the system refused. `alone`: nobody else builds these sources now where
  // temporary files lie, so a folder that is there already was left by somebody who crashed.
  static std::optional<IncludeFiles> write(const std::vector<wire::IncludeFile>& files, std::string_view sources,
                                           bool alone);

  IncludeFiles(IncludeFiles&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  IncludeFiles& operator=(IncludeFiles&&) = delete;
  ~IncludeFiles();

  const std::string& folder() const { return folder_; }  // "": there are no files

 private:
  explicit IncludeFiles(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;
};

// `options` without the client's own -I, which mean nothing here; with `folder` in their place, if it is not "".
std::string rewrite_options(const std::string& options, const std::string& folder);

}  // namespace gt::exec
