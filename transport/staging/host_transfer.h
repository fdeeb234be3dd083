// One transfer between host memory and a memory object, and the parts that it is staged in.
//
// A part is a chunk of the region (transport/copy/chunks.h) of whole rows; in pinned memory its rows lie packed. Large
// ranges begin (on the way back: end) with parts of an eighth, a quarter, half a chunk, so that the device starts early
// and the last copy is short. Thread safety: values.
#pragma once

#include <cstddef>

#include "transport/copy/chunks.h"
#include "transport/opencl/cl_functions.h"
#include "transport/staging/copy_threads.h"

namespace gt::staging {

using copy::Way;

struct HostTransfer {
  using Shape = copy::Region::Shape;

  Way way = Way::ToDevice;
  Shape called = Shape::Range;  // as the program asked; a box without gaps is moved as a range
  cl_mem mem = nullptr;
  char* svm = nullptr;       // Svm, in place of `mem`: the first byte there
  copy::Region region;
  size_t element = 1;        // Image: bytes of a pixel
  size_t end = 0;            // of a buffer: behind the last byte there. 0: no driver takes it
  char* host = nullptr;      // the first byte that is moved
  copy::Layout layout;       // of the rows there, from that byte
  bool fresh = false;        // the host's pages were not there when the program called: who copies makes them

  size_t bytes() const noexcept { return copy::packed_bytes(layout); }
};

// Nothing of the program's runs when its memory is touched (program_faults.h). REQUIRES: bytes() > 0.
bool is_there(const HostTransfer& transfer) noexcept;

HostTransfer range_transfer(Way way, cl_mem mem, size_t offset, size_t bytes, const void* host) noexcept;
// REQUIRES: ClFunctions has clEnqueueSVMMemcpy.
HostTransfer svm_transfer(Way way, const void* svm, size_t bytes, const void* host) noexcept;
// The arguments of clEnqueue{Write,Read}BufferRect, not NULL. A box without gaps on both sides becomes a range. Without
// bytes, where no address can say where it ends.
HostTransfer box_transfer(Way way, cl_mem mem, const size_t* buffer_origin, const size_t* host_origin,
                          const size_t* region, size_t buffer_row_pitch, size_t buffer_slice_pitch,
                          size_t host_row_pitch, size_t host_slice_pitch, const void* host) noexcept;
// The arguments of clEnqueue{Write,Read}Image, not NULL, and the size of a pixel. Without bytes: likewise.
HostTransfer image_transfer(Way way, cl_mem image, const size_t* origin, const size_t* region, size_t row_pitch,
                            size_t slice_pitch, size_t pixel_bytes, const void* host) noexcept;

// Walks through the parts of a transfer that fit into chunks of `chunk_bytes`.
class Parts {
 public:
  // False through fits() when a single row is larger than a chunk: such a transfer cannot be staged.
  Parts(const HostTransfer& transfer, size_t chunk_bytes) noexcept;
  bool fits() const noexcept { return chunks_.valid() && (transfer_.region.is_range() || chunks_.whole_rows()); }
  size_t count() const noexcept { return ramped_ ? ramped_ : chunks_.count(); }

  // Between the host and a chunk, in the transfer's direction. Past the caches where that was measured to be faster
  // (docs/measurements/staging.md): into chunks, which only the device reads, unless the program's memory is too large
  // for the caches, when memory's bandwidth is what is short; out of them just when it is.
  Copy copy(size_t part, char* chunk) const noexcept;
  // Between the chunk and the memory object: enqueues the command, not blocking.
  cl_int enqueue(const ClFunctions& cl, cl_command_queue queue, size_t part, char* chunk, cl_uint waits,
                 const cl_event* wait_list, cl_event* event) const noexcept;
  // The same without staging, on the host's memory itself: what is left to do when a part was refused.
  cl_int enqueue_direct(const ClFunctions& cl, cl_command_queue queue, size_t part) const noexcept;

 private:
  copy::Region region(size_t part) const noexcept;
  size_t ramp_boundary(size_t part) const noexcept;
  char* host(const copy::Region& part) const noexcept;

  const HostTransfer& transfer_;
  const size_t chunk_bytes_;
  const copy::Chunks chunks_;
  size_t ramped_ = 0;  // parts, where the small ones come first
  bool streaming_ = false;
};

}  // namespace gt::staging
