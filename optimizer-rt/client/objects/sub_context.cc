#include "optimizer-rt/client/objects/sub_context.h"

#include <algorithm>
#include <cstring>

#include "optimizer-rt/client/base/answers.h"

namespace gt::virt {

SubContext::SubContext(_cl_context& c, _cl_device_id& first, size_t i)
    : context(c), session(first.session), platform(first.native_platform), name(session.new_id()), index(i) {}

ObjectId SubContext::service_queue() {
  const MutexLock lock(mutex_);
  if (service_queue_ == 0) service_queue_ = make_queue(0);
  return service_queue_;
}

ObjectId SubContext::shared_queue() {
  const MutexLock lock(mutex_);
  if (shared_queue_ == 0) shared_queue_ = make_queue(0);
  return shared_queue_;
}

ObjectId SubContext::peer_queue() {
  const MutexLock lock(mutex_);
  const auto can = devices[0]->number<cl_command_queue_properties>(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES);
  if (peer_queue_ == 0) peer_queue_ = make_queue(can & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  return peer_queue_;
}

ObjectId SubContext::scratch() {
  const MutexLock lock(mutex_);
  if (scratch_ != 0) return scratch_;
  const ObjectId buffer = session.new_id();
  cl_int errcode = 0;
  session.call<api::FnId::clCreateBuffer>({buffer}, as<cl_context>(name), cl_mem_flags{CL_MEM_READ_WRITE},
                                          ScratchBytes, static_cast<void*>(nullptr), &errcode);
  return scratch_ = buffer;
}

ObjectId SubContext::make_queue(cl_command_queue_properties properties) {
  const ObjectId queue = session.new_id();
  cl_int errcode = 0;
  session.call<api::FnId::clCreateCommandQueue>({queue}, as<cl_context>(name), as<cl_device_id>(devices[0]->name),
                                                properties, &errcode);
  return queue;
}

const std::vector<cl_image_format>& SubContext::image_formats(cl_mem_flags flags, cl_mem_object_type type) {
  const MutexLock lock(mutex_);
  std::vector<cl_image_format>& known = formats_[{flags, type}];
  if (!known.empty()) return known;
  constexpr cl_uint Most = 1024;
  cl_image_format wanted{};  // only whether there is a pointer goes along
  cl_uint count = 0;
  const Bytes outputs = session.ask<api::FnId::clGetSupportedImageFormats>({}, as<cl_context>(name), flags, type, Most,
                                                                           &wanted, &count);
  const CallAnswer answer = answer_of(api::FnId::clGetSupportedImageFormats, outputs);
  require(answer.code == CL_SUCCESS, answer.code);
  const std::vector<uint64_t> words = answer.numbers(4);  // a format fills a word
  static_assert(sizeof(cl_image_format) == sizeof words[0]);
  known.resize(std::min<size_t>(answer.number(5), words.size()));
  if (!known.empty()) std::memcpy(known.data(), words.data(), known.size() * sizeof(cl_image_format));
  return known;
}

}  // namespace gt::virt
