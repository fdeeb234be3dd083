// What a command needs to replay a trace: the driver, the devices, the contents, and the world of a replay.
// Thread safety: as ReplayWorld.
#pragma once

#include <memory>
#include <string>

#include "tracer/gtrace/base/open.h"
#include "tracer/gtrace/replay/replayer.h"
#include "tracer/gtrace/replay/stored_contents.h"

namespace gt::tracer {

class ReplaySession {
 public:
  // `opened` must outlive it. Of what is only worth a line (a file of contents that is not whole) it prints one.
  static Result<std::unique_ptr<ReplaySession>> open(const OpenedTrace& opened, uint32_t process,
                                                     const std::string& device);
  ReplayWorld& world() { return *world_; }
  // Contents that were asked for and could not be read. Corrupt, with a line.
  Status damage() const { return contents_ ? contents_->damage() : Status(); }

 private:
  ReplaySession() = default;
  Status put_headers(const model::Trace& trace, uint32_t process);

  std::unique_ptr<OpenClLibrary> library_;
  std::unique_ptr<DeviceChoice> devices_;
  std::unique_ptr<StoredContents> contents_;
  std::unique_ptr<RecordedHeaders> headers_;
  HeaderFolder header_folder_;
  std::unique_ptr<ReplayWorld> world_;
};

}  // namespace gt::tracer
