// The objects of a type that live, by address: for handles that come as mere bytes.
// Thread safety: any thread.
#pragma once

#include <unordered_map>

#include "optimizer-rt/client/base/object.h"
#include "traces/base/mutex.h"

namespace gt::virt {

template <class T>
class LiveObjects {
 public:
  void add(T* object) {
    const MutexLock lock(mutex_);
    all_[object] = object;
  }
  void remove(const T* object) {
    const MutexLock lock(mutex_);
    all_.erase(object);
  }
  Ref<T> find(const void* handle) {
    const MutexLock lock(mutex_);
    const auto it = all_.find(handle);
    if (it == all_.end() || !try_hold(it->second)) return {};
    return Ref<T>::adopt(it->second);
  }

 private:
  Mutex mutex_;
  std::unordered_map<const void*, T*> all_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::virt
