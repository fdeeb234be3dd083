// A device of an executor, or a part of one. What is known of it came with device discovery.
// Thread safety: any thread, once the program may know it. What info() gives stays as long as the device.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "optimizer-rt/client/base/object.h"
#include "optimizer-rt/client/session/session.h"
#include "traces/base/mutex.h"

struct _cl_device_id : gt::virt::Object {
  static constexpr auto Kind = gt::virt::Type::Device;
  static constexpr cl_int Invalid = CL_INVALID_DEVICE;

  _cl_device_id(gt::virt::Session& s, gt::virt::ObjectId n, gt::virt::ObjectId p)
      : Object(Kind), session(s), name(n), native_platform(p) {}
  ~_cl_device_id();

  // As the program sees it: what cannot be used from elsewhere is masked. Throws when there is no such information.
  const gt::Bytes& info(cl_device_info param);
  template <class T>
  T number(cl_device_info param, T otherwise = {}) {
    const gt::Bytes* b = try_info(param);
    T v{};
    if (!b || b->size() < sizeof v) return otherwise;
    std::memcpy(&v, b->data(), sizeof v);
    return v;
  }
  std::string text(cl_device_info param);
  bool has_extension(std::string_view extension);
  // What is known from device discovery; masked and kept.
  void learn(cl_device_info param, gt::Bytes value);

  // Does its driver tell the time? Asked once, which waits for the answer; throws when the link is closed.
  bool has_timers();

  // As the program knows it.
  cl_device_id handle() { return native ? native : this; }

  gt::virt::Session& session;
  const gt::virt::ObjectId name, native_platform;
  gt::virt::Ref<_cl_device_id> parent;  // of a sub-device
  gt::Bytes partition;                  // how it was made of its parent
  cl_device_id native = nullptr;        // a driver's, in this process; nullptr: the handle is ours
 private:
  const gt::Bytes* try_info(cl_device_info param);

  gt::Mutex mutex_;
  std::map<cl_device_info, gt::Bytes> infos_ GT_GUARDED_BY(mutex_);  // an entry is never changed once there
  std::map<cl_device_info, gt::Bytes> texts_ GT_GUARDED_BY(mutex_);  // what lists of addresses lead to
  std::once_flag timers_asked_;
  bool has_timers_ = false;
};
