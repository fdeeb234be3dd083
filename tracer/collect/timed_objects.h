// The queues, and the contexts on each of their devices, that commands are timed for: numbers for names.
//
// A queue that is made again under the same name is the same one. Thread safety: none.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "tracer/collect/names.h"

namespace gt::tracer {

class TimedObjects {
 public:
  // A program that makes queues without end has device times without end; beyond this many they are the device's only.
  static constexpr size_t Most = 256;
  struct Object {
    ObjectRef object;
    uint32_t device;
  };

  // NoIndex: there are too many.
  uint32_t index_of(ObjectRef object, uint32_t device) {
    const auto known = index_.find({object.cls, object.slot, device});
    if (known != index_.end()) return known->second;
    if (objects_.size() >= Most) {
      ++left_out_;
      return model::NoIndex;
    }
    objects_.push_back({object, device});
    return index_[{object.cls, object.slot, device}] = static_cast<uint32_t>(objects_.size() - 1);
  }
  const std::vector<Object>& objects() const { return objects_; }
  uint64_t left_out() const { return left_out_; }

 private:
  std::map<std::tuple<model::ClassId, uint32_t, uint32_t>, uint32_t> index_;
  std::vector<Object> objects_;
  uint64_t left_out_ = 0;
};

}  // namespace gt::tracer
