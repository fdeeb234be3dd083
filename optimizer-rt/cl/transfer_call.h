// A program's call that moves bytes between its memory and a memory object: the arguments of clEnqueueWriteBuffer and
// its kin in one shape. Thread safety: values; the pointers are the program's and may be anything.
#pragma once

#include <CL/cl.h>

#include <cstddef>

#include "optimizer-rt/pool/counters.h"
#include "transport/staging/host_transfer.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

inline Way way_of(staging::Way way, staging::HostTransfer::Shape shape) noexcept {
  const bool up = way == staging::Way::ToDevice;
  if (shape == staging::HostTransfer::Shape::Svm) return up ? HostToSvm : SvmToHost;
  return up ? HostToDevice : DeviceToHost;
}

// The host side of a transfer. `span` bytes lie between its first and last byte, `bytes` of them are moved.
struct HostRange {
  const void* base = nullptr;
  size_t span = 0;
  size_t bytes = 0;
};
inline HostRange host_range(const staging::HostTransfer& t) noexcept { return {t.host, t.layout.extent(), t.bytes()}; }

struct TransferCall {
  cl_command_queue queue = nullptr;
  staging::Way way = staging::Way::ToDevice;
  staging::HostTransfer::Shape shape = staging::HostTransfer::Shape::Range;
  cl_mem mem = nullptr;
  const void* svm = nullptr;  // Svm: instead of mem
  bool blocking = false;
  size_t offset = 0, bytes = 0;  // Range, Svm
  const size_t* origin = nullptr;  // Box: in the buffer; Image: in the image
  const size_t* host_origin = nullptr;
  const size_t* region = nullptr;
  size_t row_pitch = 0, slice_pitch = 0;  // Box: of the buffer
  size_t host_row_pitch = 0, host_slice_pitch = 0;
  const void* host = nullptr;
  cl_uint waits = 0;
  const cl_event* wait_list = nullptr;
  cl_event* event = nullptr;
};

// What it moves. No bytes: it has none, or cannot be right. REQUIRES: `mem` is an object, and no other pointer a wrong
// one but for NULL. Cost: of an image, a question to the driver.
staging::HostTransfer describe(const TransferCall& call) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
