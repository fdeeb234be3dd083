// Device memory that CUDA allocates, that OpenCL imports as a buffer, and that other devices write by themselves.
//
// CUDA's commands and OpenCL's on it are ordered by whoever waits for each in turn. What OpenCL has imported stays
// after CUDA has let go of it.
// Thread safety: all functions. Everything here, also letting go, asks for a cuda::Use of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "traces/base/mutex.h"
#include "transport/moves/cuda.h"
#include "transport/moves/move_slots.h"

namespace gt::moves {

// An OpenCL device as CUDA knows it, and CUDA's context there, which the process has one of.
class PeerDevice {
 public:
  // nullptr: the device or the drivers do not allow it.
  static std::shared_ptr<PeerDevice> make(const cuda::Functions& cuda, const MoveEnd& end);
  ~PeerDevice();
  PeerDevice(const PeerDevice&) = delete;
  PeerDevice& operator=(const PeerDevice&) = delete;

  // Much is left: the program may need it. REQUIRES: the context is current.
  bool is_roomy() const;

  const cuda::Functions& cuda;
  const MoveEnd end;
  const cuda::Device number;
  const cuda::Context context;
  std::atomic<size_t> taken{0};  // bytes of the memory that this has

 private:
  PeerDevice(const cuda::Functions& functions, const MoveEnd& e, cuda::Device n, cuda::Context c)
      : cuda(functions), end(e), number(n), context(c) {}
};

class PeerMemory {
 public:
  // nullptr: there is none, or little. The buffer has so many bytes; the memory is a multiple of 2 MiB.
  static std::unique_ptr<PeerMemory> make(std::shared_ptr<PeerDevice> device, size_t bytes);
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  cl_mem mem() const { return mem_; }  // whoever keeps it retains it
  cuda::Address address() const { return address_; }
  size_t bytes() const { return bytes_; }
  size_t taken() const { return taken_; }
  const std::shared_ptr<PeerDevice>& device() const { return device_; }
  // Another device's commands may reach it. False: they do not reach each other.
  bool admit(const PeerDevice& other);

 private:
  PeerMemory(std::shared_ptr<PeerDevice> device, size_t bytes) : device_(std::move(device)), bytes_(bytes) {}
  bool allocate();
  bool give_access(cuda::Device to);
  bool import();

  const std::shared_ptr<PeerDevice> device_;
  const size_t bytes_;
  size_t taken_ = 0;
  cuda::Allocation allocation_ = 0;
  cuda::Address address_ = 0;
  bool mapped_ = false;
  cl_mem mem_ = nullptr;
  Mutex mutex_;
  std::vector<cuda::Device> admitted_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::moves
