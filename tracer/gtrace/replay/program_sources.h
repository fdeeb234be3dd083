// Sources of programs in a recording, for a program that came as a binary of another device.
// Thread safety: find() from any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "traces/base/mutex.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

struct ProgramSource {
  std::string text, options;
  auto operator<=>(const ProgramSource&) const = default;
};

class ProgramSources {
 public:
  // `trace` must outlive it.
  explicit ProgramSources(const model::Trace& trace) : trace_(trace) {}

  // The only source of the recording that has all kernels which were made of programs of this class; nothing: there is
  // none, or there are several. The first call reads the whole recording.
  std::optional<ProgramSource> find(model::ClassId program);
  std::vector<std::string> kernels_of(model::ClassId program) const;

  // A program that was made from source here: what its builds are to be given.
  void note_made(uint64_t program, const std::string& options);
  std::optional<std::string> options_of(uint64_t program) const;

 private:
  void read() GT_REQUIRES(mutex_);

  const model::Trace& trace_;
  mutable Mutex mutex_;
  bool read_ GT_GUARDED_BY(mutex_) = false;
  std::vector<ProgramSource> sources_ GT_GUARDED_BY(mutex_);
  std::map<uint64_t, std::string> made_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::tracer
