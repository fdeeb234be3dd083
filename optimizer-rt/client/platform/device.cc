#include "optimizer-rt/client/platform/device.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/platform/device_mask.h"

using namespace gt;        // NOLINT: this file is about one of their types
using namespace gt::virt;  // NOLINT

// Of each text in a row of them, each with its NUL.
static Bytes addresses_of_texts(const Bytes& texts) {
  std::vector<const char*> list;
  for (size_t at = 0; at < texts.size();) {
    const auto end = std::find(texts.begin() + static_cast<ptrdiff_t>(at), texts.end(), uint8_t{0});
    if (end == texts.end()) break;
    list.push_back(reinterpret_cast<const char*>(texts.data() + at));
    at = static_cast<size_t>(end - texts.begin()) + 1;
  }
  const auto* const bytes = reinterpret_cast<const uint8_t*>(list.data());
  return {bytes, bytes + list.size() * sizeof(const char*)};
}

_cl_device_id::~_cl_device_id() {
  if (!session.alive()) return;
  try {
    session.call<api::FnId::clReleaseDevice>({}, as<cl_device_id>(name));
  } catch (const Failure&) {  // nothing is left to release
  }
}

void _cl_device_id::learn(cl_device_info param, Bytes value) {
  const MutexLock lock(mutex_);
  if (wire::is_list_of_texts(param)) {
    const auto [kept, fresh] = texts_.emplace(param, std::move(value));
    value = addresses_of_texts(kept->second);
  }
  infos_.emplace(param, masked_info(param, std::move(value), session.in_process()));
}

const Bytes* _cl_device_id::try_info(cl_device_info param) {
  {
    const MutexLock lock(mutex_);
    const auto it = infos_.find(param);
    if (it != infos_.end()) return &it->second;
  }
  return nullptr;
}

const Bytes& _cl_device_id::info(cl_device_info param) {
  const Bytes* const b = try_info(param);
  require(b != nullptr, CL_INVALID_VALUE);
  return *b;
}

bool _cl_device_id::has_timers() {
  std::call_once(timers_asked_, [this] {
    cl_ulong ns = 0;
    const Bytes outputs = session.ask<api::FnId::clGetHostTimer>({}, as<cl_device_id>(name), &ns);
    has_timers_ = answer_of(api::FnId::clGetHostTimer, outputs).code == CL_SUCCESS;
  });
  return has_timers_;
}

bool _cl_device_id::has_extension(std::string_view extension) {
  const std::string all = " " + text(CL_DEVICE_EXTENSIONS) + " ";
  return all.find(" " + std::string(extension) + " ") != std::string::npos;
}

std::string _cl_device_id::text(cl_device_info param) {
  const Bytes* const b = try_info(param);
  return b ? std::string(as_text(*b).substr(0, as_text(*b).find('\0'))) : std::string();
}
