// The contents of one recorded process, from the file beside its trace.
#pragma once

#include <memory>

#include "tracer/gtrace/replay/contents.h"
#include "traces/base/mutex.h"
#include "traces/contents/content_reader.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

class StoredContents : public ContentSource {
 public:
  // nullptr: the recording kept none. Invalid, Corrupt: the file is not there, another trace's, or damaged.
  static Result<std::unique_ptr<StoredContents>> open(const std::string& trace_path, const model::Trace& trace,
                                                      uint32_t process);

  bool has(int64_t number) const override;
  uint64_t size(int64_t number) const override;
  Status read(int64_t number, Bytes& out) const override;
  const contents::ContentReader& reader() const { return reader_; }
  const Status& trouble() const { return reader_.trouble(); }  // of a file that is not whole
  Status damage() const;                                       // the first content that could not be read; Ok: none

 private:
  StoredContents(contents::ContentReader reader, uint32_t process) : reader_(std::move(reader)), process_(process) {}

  contents::ContentReader reader_;
  uint32_t process_;
  mutable Mutex mutex_;  // of reading
  mutable Status damage_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::tracer
