// What a program for several devices works with: devices of one platform in one context, their in-order queues, a
// program compiled for all of them, and everything made from these, given back at the end.
//
// How such a program submits its work: it enqueues a step on all devices, orders the devices by events, flushes, and
// goes on with the next step. The host waits for nothing but its Pace.
// Thread safety: none.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "microbench/apps/harness.h"

namespace gt::apps {

// The option that every such program has.
inline Option devices_option(int64_t& devices) {
  return {.name = "--devices", .help = "devices to use, from --device on; 0: all of them", .number = &devices,
          .most = 64};
}

// The end of a command; released with the object. Empty, or what clEnqueue... wrote to out().
class Event {
 public:
  Event() = default;
  ~Event() { reset(); }
  Event(Event&& other) noexcept : event_(other.event_) { other.event_ = nullptr; }
  Event& operator=(Event&& other) noexcept {
    if (this == &other) return *this;
    reset();
    event_ = other.event_;
    other.event_ = nullptr;
    return *this;
  }

  cl_event get() const { return event_; }
  cl_event* out() {
    reset();
    return &event_;
  }

 private:
  void reset() {
    if (event_ != nullptr) check(clReleaseEvent(event_), "clReleaseEvent");
    event_ = nullptr;
  }
  cl_event event_ = nullptr;
};

// Those of the events that are not empty, as clEnqueue... takes them.
class WaitList {
 public:
  WaitList(std::initializer_list<const Event*> events);
  cl_uint count() const { return static_cast<cl_uint>(events_.size()); }
  const cl_event* data() const { return events_.empty() ? nullptr : events_.data(); }

 private:
  std::vector<cl_event> events_;
};

// Items begin..end-1.
struct Share {
  size_t begin, end;
  size_t count() const { return end - begin; }
};

class DeviceGroup {
 public:
  DeviceGroup(const char* source, int64_t devices);  // as many as choose_devices() gives
  ~DeviceGroup();
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;

  size_t size() const { return devices_.size(); }
  Share share(size_t items, size_t device) const {  // as even as whole items allow
    return {items * device / size(), items * (device + 1) / size()};
  }

  // Each is released with the group.
  cl_command_queue queue(size_t device);
  cl_kernel kernel(const char* name);
  cl_mem buffer(cl_mem_flags flags, size_t bytes);

  void flush();   // all queues
  void finish();  // all queues

 private:
  std::vector<cl_device_id> devices_;
  cl_context context_ = nullptr;
  cl_program program_ = nullptr;
  std::vector<cl_command_queue> queues_;
  std::vector<cl_kernel> kernels_;
  std::vector<cl_mem> buffers_;
};

// One transfer of `bytes`, on its way when the function returns.
void enqueue_write(cl_command_queue queue, cl_mem to, const void* from, size_t bytes);
void enqueue_read(cl_command_queue queue, cl_mem from, void* to, size_t bytes);

// Keeps the host less than 2 * Steps steps ahead of the devices, without letting these run dry.
class Pace {
 public:
  static constexpr size_t Steps = 32;
  void step(std::vector<Event> ends);  // of a step's commands, one for each device

 private:
  size_t count_ = 0;
  std::vector<Event> earlier_;  // ends of the last step whose number is a multiple of Steps
};

}  // namespace gt::apps
