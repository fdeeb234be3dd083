// A command queue: it is at one place, that of its device.
//
// Errors that only the executor could see (Failed) are kept and returned once, by the next call that synchronizes.
#pragma once

#include <atomic>
#include <vector>

#include "optimizer-rt/client/objects/context.h"
#include "optimizer-rt/client/objects/landings.h"
#include "optimizer-rt/client/base/object.h"

struct _cl_command_queue : gt::virt::Object {
  static constexpr auto Kind = gt::virt::Type::Queue;
  static constexpr cl_int Invalid = CL_INVALID_COMMAND_QUEUE;

  _cl_command_queue(_cl_context& context, _cl_device_id& device, cl_command_queue_properties properties,
                    std::vector<cl_queue_properties> list);
  ~_cl_command_queue();

  bool profiles() const { return properties & CL_QUEUE_PROFILING_ENABLE; }
  uint64_t next_number() { return numbers.fetch_add(1) + 1; }
  cl_int finish();
  void note_failure(cl_int code);
  void note_end(uint64_t number);
  cl_int take_failure() { return failure.exchange(CL_SUCCESS); }

  const gt::virt::Ref<_cl_context> context;
  const gt::virt::Ref<_cl_device_id> device;
  gt::virt::Place& place;
  const gt::virt::ObjectId name;
  std::atomic<cl_command_queue_properties> properties;
  const std::vector<cl_queue_properties> list;  // as the program gave it, with its final 0; empty: none
  std::atomic<uint64_t> numbers{0};             // of events, as they were made
  std::atomic<uint64_t> finished{0};            // events up to this one have ended
  std::atomic<uint64_t> latest_ended{0};        // the last one of which it is known
  std::atomic<cl_int> failure{CL_SUCCESS};
  gt::virt::Landings landings;
};
