// Where a trace goes: to the file that the user named, or, when that cannot be written, somewhere else rather than
// nowhere.
#pragma once

#include <string>

#include "traces/base/fd.h"
#include "traces/base/status.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

// Can `path` be created here? Asked before the program starts, so that nobody runs an hour for nothing.
Status check_writable(const std::string& path);

// The file of one recording. What is put there replaces what this recording put there before, whole, at one moment;
// a trace of another recording is never replaced: an older one moves aside (trace.1.db, ...). When another recording
// has moved ours aside, ours is replaced where it lies now.
// What belongs to it lies beside it (trace.contents) and is put there with the first trace.
// Thread safety: none. Several recordings may use one directory: moves in it are made under a lock of the directory.
class TraceFile {
 public:
  explicit TraceFile(std::string wanted);
  ~TraceFile();  // removes what was staged and not placed

  // Where contents are to be written until the first place(). REQUIRES: asked for before that, if at all.
  const std::string& stage_contents();
  // Where records may wait for the collector.
  std::string spill_path() const;
  // Where they lie; "": nowhere.
  std::string contents_path() const;

  // Writes beside the place; place() then makes it the trace. A forked copy may do the first, the original the second.
  Status stage(const model::Trace& trace) const;
  Status place();
  // Removes what process `pid`, which has ended, left of a stage() that it did not finish.
  void discard_staged_by(int pid) const;
  // The same of contents that it was to place: the trace that they belong to is none.
  void discard_contents_by(int pid) const;

  // stage() and place(); when that fails (a full disk), the trace goes to the user's data directory or a temporary
  // one, and the failure to `trouble`. Gives the path written.
  Result<std::string> save(const model::Trace& trace, Status& trouble);

  const std::string& path() const { return path_; }  // where it lay last

 private:
  bool is_ours(const std::string& path) const;
  std::string find() const;

  Status place_contents();
  void leave_contents();

  std::string path_, staged_, staged_contents_;
  bool contents_placed_ = false;
  Fd placed_;  // what place() put there last: as long as it is open no other file has its inode number
};

}  // namespace gt::tracer
