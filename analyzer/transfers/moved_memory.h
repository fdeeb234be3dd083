// Whose data the calls of a shape move: the host memory that they name, or the buffer that stands for it.
//
//   write, read, copy at creation    the memory behind the pointer; a pointer into a mapping: the mapped buffer
//   map, unmap                       the host memory that the buffer uses in place, else the buffer, as mapped
//   migrate                          the same; the buffer as such
//   copy to or from SVM              the side that is ordinary memory
//   map, unmap, migrate SVM          the SVM
//
// Thread safety: immutable after construction.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::analyzer {

struct Moved {
  model::ClassId cls = model::NoIndex;                  // of host memory, or of a buffer or image
  model::ObjectKind kind = model::ObjectKind::Unknown;  // of cls; Mapping: the buffer `cls`, mapped
  uint32_t arg = 0;                                     // index of the shape's argument that says so
};

class MovedMemory {
 public:
  // REQUIRES: a checked trace that outlives this object.
  explicit MovedMemory(const model::Trace& trace);

  // Each memory once; nothing for calls that move nothing between host and devices.
  std::vector<Moved> of(const model::Shape& shape) const;
  // The host memory that buffers made by calls of this shape use instead of their own (CL_MEM_USE_HOST_PTR).
  std::optional<model::ClassId> used_in_place(const model::Shape& shape) const;

 private:
  std::vector<Moved> named_by(const model::Shape& shape) const;
  std::vector<Moved> behind_objects(const model::Shape& shape, bool mapped) const;
  model::ObjectKind kind_of(model::ClassId cls) const { return trace_.classes[cls].kind; }

  const model::Trace& trace_;
  std::map<model::ClassId, model::ClassId> mapped_;  // the buffer of each class of mappings
};

}  // namespace gt::analyzer
