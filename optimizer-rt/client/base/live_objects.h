// The objects of a type that live, by address: for handles that come as mere bytes.
// Thread safety: any thread.
#pragma once

#include <mutex>
#include <unordered_map>

#include "optimizer-rt/client/base/object.h"

namespace gt::virt {

template <class T>
class LiveObjects {
 public:
  void add(T* object) {
    const std::lock_guard lock(mutex_);
    all_[object] = object;
  }
  void remove(const T* object) {
    const std::lock_guard lock(mutex_);
    all_.erase(object);
  }
  Ref<T> find(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto it = all_.find(handle);
    if (it == all_.end() || !try_hold(it->second)) return {};
    return Ref<T>::adopt(it->second);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const void*, T*> all_;
};

}  // namespace gt::virt
