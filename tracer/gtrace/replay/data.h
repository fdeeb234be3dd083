// What was moved, put where a replayed call will look for it, and compared with what such a call brings.
// Thread safety: one object per thread; what is in ReplayWorld is shared.
#pragma once

#include <string>
#include <vector>

#include "tracer/gtrace/replay/world.h"
#include "traces/api/host_box.h"

namespace gt::tracer {

// Memory of this process that stands for memory of the program's, or OpenCL's.
struct ReplayedBytes {
  uint8_t* at = nullptr;
  api::HostBox box;
};
// A result: of which call, and what its elements are.
struct ResultPlace {
  uint64_t call = 0;
  model::ThreadId thread = 0;
  model::ShapeId shape = 0;
  ElementType type = ElementType::Byte;
  std::string object = {};  // of a launch: what it wrote
};

class ReplayedData {
 public:
  explicit ReplayedData(ReplayWorld& world) : world_(world) {}

  // Rows of the content, one after the other, into those of the box, with addresses that are right here. False: it is
  // not to be had, or something else is there now, because addresses in it were changed.
  bool fill(const ReplayedBytes& to, int64_t content);
  // Rows of the box against the content.
  void compare(const ReplayedBytes& got, int64_t content, const ResultPlace& place);

 private:
  ReplayWorld& world_;
  Bytes bytes_, got_;
};

}  // namespace gt::tracer
