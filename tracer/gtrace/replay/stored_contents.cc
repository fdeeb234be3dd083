#include "tracer/gtrace/replay/stored_contents.h"

namespace gt::tracer {

Result<std::unique_ptr<StoredContents>> StoredContents::open(const std::string& trace_path, const model::Trace& trace,
                                                             uint32_t process) {
  const std::string_view key = trace.fact("contents.key");
  if (key.empty()) return std::unique_ptr<StoredContents>();
  Result<contents::ContentReader> reader = contents::ContentReader::open(contents::path_beside(trace_path), key);
  if (!reader) return reader.status();
  return std::unique_ptr<StoredContents>(new StoredContents(std::move(*reader), process));
}

bool StoredContents::has(int64_t number) const { return reader_.has(process_, number); }

uint64_t StoredContents::size(int64_t number) const { return reader_.size_of(process_, number); }

Status StoredContents::read(int64_t number, Bytes& out) const {
  const MutexLock lock(mutex_);
  const Status read = reader_.read(process_, number, out);
  if (!read.ok() && damage_.ok()) damage_ = read;
  return read;
}

Status StoredContents::damage() const {
  const MutexLock lock(mutex_);
  return damage_;
}

}  // namespace gt::tracer
