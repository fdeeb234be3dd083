// What was read back from devices for calls that were chosen (tracer/lib/device_contents.h): counted, and named in
// their calls.
//
//   clEnqueueNDRangeKernel(...), ParamBefore: -, b0, 4, b1, 5, ParamAfter: b0, 6
//
// Thread safety: none.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tracer/collect/call_naming.h"
#include "tracer/collect/traced_thread.h"

namespace gt::tracer {

class DeviceContents {
 public:
  DeviceContents(const TraceTables& tables, CallNaming& naming) : tables_(tables), naming_(naming) {}

  // Of the pending call. `bytes` 0: it was not to be had; `kept`: its bytes are in the file.
  void take(TracedThread& thread, const DeviceContent& content, uint64_t bytes, bool kept);
  // The pending call ends: its arguments are all there but for these.
  void name(TracedThread& thread);

  void add_facts(std::vector<std::pair<std::string, std::string>>& facts) const;

 private:
  struct Side {
    uint64_t read = 0, bytes = 0, unread = 0;
  };
  std::string kernel_of(const TracedThread& thread) const;

  const TraceTables& tables_;
  CallNaming& naming_;
  Side before_, after_;
  uint64_t calls_ = 0, left_out_ = 0;
  std::string first_left_out_;
};

inline bool of_device(SharedKind kind) { return kind >= SharedKind::Chosen; }

}  // namespace gt::tracer
