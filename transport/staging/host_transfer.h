// One transfer between host memory and a memory object, and the parts that it is staged in.
//
// Four shapes: a range of a buffer, the same of shared virtual memory (clEnqueueSVMMemcpy), a box of a buffer
// (clEnqueue*BufferRect), a region of an image. Sizes are bytes on the host's side, in rows and slices. A part is a run
// of bytes of a range, a run of rows within one slice, or a run of slices; in a chunk of pinned memory its rows lie
// packed. Large ranges begin (on the way back: end) with parts of an eighth, a quarter, half a chunk, so that the
// device starts early and the last copy is short. Thread safety: values.
#pragma once

#include <cstddef>

#include "transport/opencl/cl_functions.h"
#include "transport/staging/copy_threads.h"

namespace gt::staging {

enum class Way { ToDevice, ToHost };

struct HostTransfer {
  enum class Shape { Range, Svm, Box, Image };

  Way way = Way::ToDevice;
  Shape shape = Shape::Range;
  Shape called = Shape::Range;  // as the program asked; a box without gaps is moved as a range
  cl_mem mem = nullptr;
  char* svm = nullptr;       // Svm: the first byte there
  char* host = nullptr;      // the first byte that is moved
  size_t row_bytes = 0;      // Range, Svm: all of it
  size_t rows = 1, slices = 1;
  size_t host_row_pitch = 0, host_slice_pitch = 0;
  size_t origin[3] = {};     // in the memory object: bytes, rows, slices; of an image: pixels
  size_t mem_row_pitch = 0, mem_slice_pitch = 0;  // Box
  size_t row_pixels = 0;     // Image: pixels in a row
  bool fresh = false;        // the host's pages were not there when the program called: who copies makes them

  bool is_range() const noexcept;
  size_t bytes() const noexcept { return row_bytes * rows * slices; }
};
// One run of bytes.
inline bool is_range(HostTransfer::Shape shape) noexcept {
  return shape == HostTransfer::Shape::Range || shape == HostTransfer::Shape::Svm;
}
inline bool HostTransfer::is_range() const noexcept { return staging::is_range(shape); }

// Nothing of the program's runs when its memory is touched (program_faults.h). REQUIRES: bytes() > 0.
bool is_there(const HostTransfer& transfer) noexcept;

HostTransfer range_transfer(Way way, cl_mem mem, size_t offset, size_t bytes, const void* host) noexcept;
// REQUIRES: ClFunctions has clEnqueueSVMMemcpy.
HostTransfer svm_transfer(Way way, const void* svm, size_t bytes, const void* host) noexcept;
// The arguments of clEnqueue{Write,Read}BufferRect: not NULL, region without zeros. A box without gaps on both sides
// becomes a range.
HostTransfer box_transfer(Way way, cl_mem mem, const size_t* buffer_origin, const size_t* host_origin,
                          const size_t* region, size_t buffer_row_pitch, size_t buffer_slice_pitch,
                          size_t host_row_pitch, size_t host_slice_pitch, const void* host) noexcept;
// The arguments of clEnqueue{Write,Read}Image and the size of a pixel.
HostTransfer image_transfer(Way way, cl_mem image, const size_t* origin, const size_t* region, size_t row_pitch,
                            size_t slice_pitch, size_t pixel_bytes, const void* host) noexcept;

// Walks through the parts of a move that fit into chunks of `chunk_bytes`.
class Parts {
 public:
  // False through fits() when a single row is larger than a chunk: such a transfer cannot be staged.
  Parts(const HostTransfer& transfer, size_t chunk_bytes) noexcept;
  bool fits() const noexcept { return unit_ > 0; }
  size_t count() const noexcept { return per_slice_ * slice_groups_; }

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
  struct Place {
    size_t slice, slices;
    size_t first, count;  // rows; bytes of a range
  };
  Place place(size_t part) const noexcept;
  size_t ramp_boundary(size_t part) const noexcept;
  char* host(const Place& p) const noexcept;
  cl_int enqueue_at(const ClFunctions& cl, cl_command_queue queue, const Place& p, cl_bool blocking, char* memory,
                    size_t row_pitch, size_t slice_pitch, cl_uint waits, const cl_event* wait_list,
                    cl_event* event) const noexcept;

  const HostTransfer& transfer_;
  bool streaming_ = false;
  size_t unit_ = 0;          // rows (bytes of a range) in a part
  size_t slice_unit_ = 1;    // slices in a part; above 1 only when whole slices fit
  size_t per_slice_ = 0;     // parts in a slice, or in a group of them
  bool ramp_ = false;
  size_t slice_groups_ = 0;
};

}  // namespace gt::staging
