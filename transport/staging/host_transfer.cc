// Making moves out of OpenCL's arguments, and parts out of moves.
#include "transport/staging/host_transfer.h"

#include <unistd.h>

#include <algorithm>

#include "transport/staging/program_faults.h"

namespace gt::staging {
namespace {

constexpr size_t LeastRamped = size_t{2} << 20;  // chunks: an eighth is what the driver moves efficiently
constexpr size_t RampParts = 3;

char* writable(const void* p) { return const_cast<char*>(static_cast<const char*>(p)); }

// What the last cache keeps beside everything else: a third of it.
size_t cached_bytes() {
  constexpr long Usual = 32L << 20;  // where nobody knows
  static const long bytes = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
  return static_cast<size_t>(bytes > 0 ? bytes : Usual) / 3;
}

// Rows without gaps are one long row, so that they can be shared out evenly.
Copy merged(Copy c) {
  if (c.rows == 1 || (c.to_row_pitch == c.row_bytes && c.from_row_pitch == c.row_bytes)) {
    c.row_bytes *= c.rows;
    c.rows = c.slices;
    c.slices = 1;
    c.to_row_pitch = c.to_slice_pitch;
    c.from_row_pitch = c.from_slice_pitch;
    if (c.rows == 1 || (c.to_row_pitch == c.row_bytes && c.from_row_pitch == c.row_bytes)) {
      c.row_bytes *= c.rows;
      c.rows = 1;
    }
  }
  return c;
}

}  // namespace

// Without what lies between rows, which need not even be memory, unless it is less than a page.
bool is_there(const HostTransfer& m) noexcept {
  const auto is_there = [&](size_t at, size_t bytes) {
    return m.way == Way::ToDevice ? is_readable(m.host + at, bytes) : is_writable(m.host + at, bytes);
  };
  const bool dense = m.rows == 1 || m.host_row_pitch - m.row_bytes < FaultPage;
  const size_t runs = dense ? 1 : m.rows, run = dense ? (m.rows - 1) * m.host_row_pitch + m.row_bytes : m.row_bytes;
  for (size_t slice = 0; slice < m.slices; ++slice)
    for (size_t row = 0; row < runs; ++row)
      if (!is_there(slice * m.host_slice_pitch + row * m.host_row_pitch, run)) return false;
  return true;
}

HostTransfer range_transfer(Way way, cl_mem mem, size_t offset, size_t bytes, const void* host) noexcept {
  HostTransfer m;
  m.way = way;
  m.mem = mem;
  m.host = writable(host);
  m.row_bytes = bytes;
  m.origin[0] = offset;
  return m;
}

HostTransfer svm_transfer(Way way, const void* svm, size_t bytes, const void* host) noexcept {
  HostTransfer m = range_transfer(way, nullptr, 0, bytes, host);
  m.shape = m.called = HostTransfer::Shape::Svm;
  m.svm = writable(svm);
  return m;
}

HostTransfer box_transfer(Way way, cl_mem mem, const size_t* buffer_origin, const size_t* host_origin,
                          const size_t* region, size_t buffer_row_pitch, size_t buffer_slice_pitch,
                          size_t host_row_pitch, size_t host_slice_pitch, const void* host) noexcept {
  HostTransfer m;
  m.way = way;
  m.shape = m.called = HostTransfer::Shape::Box;
  m.mem = mem;
  m.row_bytes = region[0];
  m.rows = region[1];
  m.slices = region[2];
  m.host_row_pitch = host_row_pitch ? host_row_pitch : region[0];
  m.host_slice_pitch = host_slice_pitch ? host_slice_pitch : m.host_row_pitch * region[1];
  m.mem_row_pitch = buffer_row_pitch ? buffer_row_pitch : region[0];
  m.mem_slice_pitch = buffer_slice_pitch ? buffer_slice_pitch : m.mem_row_pitch * region[1];
  m.host = writable(host) + host_origin[0] + host_origin[1] * m.host_row_pitch + host_origin[2] * m.host_slice_pitch;
  std::copy_n(buffer_origin, 3, m.origin);
  const bool packed_rows =
      m.rows == 1 || (m.host_row_pitch == m.row_bytes && m.mem_row_pitch == m.row_bytes);
  const size_t slice = m.row_bytes * m.rows;
  const bool packed_slices = m.slices == 1 || (m.host_slice_pitch == slice && m.mem_slice_pitch == slice);
  if (!packed_rows || !packed_slices) return m;
  const size_t offset = m.origin[0] + m.origin[1] * m.mem_row_pitch + m.origin[2] * m.mem_slice_pitch;
  HostTransfer range = range_transfer(way, mem, offset, m.bytes(), m.host);
  range.called = m.called;
  return range;
}

HostTransfer image_transfer(Way way, cl_mem image, const size_t* origin, const size_t* region, size_t row_pitch,
                            size_t slice_pitch, size_t pixel_bytes, const void* host) noexcept {
  HostTransfer m;
  m.way = way;
  m.shape = m.called = HostTransfer::Shape::Image;
  m.mem = image;
  m.host = writable(host);
  m.row_pixels = region[0];
  m.row_bytes = region[0] * pixel_bytes;
  m.rows = region[1];
  m.slices = region[2];
  m.host_row_pitch = row_pitch ? row_pitch : m.row_bytes;
  m.host_slice_pitch = slice_pitch ? slice_pitch : m.host_row_pitch * m.rows;
  std::copy_n(origin, 3, m.origin);
  return m;
}

Parts::Parts(const HostTransfer& transfer, size_t chunk_bytes) noexcept : transfer_(transfer) {
  streaming_ = (transfer.way == Way::ToDevice) == (transfer.bytes() <= cached_bytes());
  const bool range = transfer.is_range();
  const size_t units = range ? transfer.row_bytes : transfer.rows;
  unit_ = std::min(units, range ? chunk_bytes : chunk_bytes / std::max<size_t>(1, transfer.row_bytes));
  if (unit_ == 0) return;
  per_slice_ = (units + unit_ - 1) / unit_;
  ramp_ = range && unit_ >= LeastRamped && per_slice_ > 2;
  if (ramp_) per_slice_ = RampParts + (units - unit_ / 8 * 7 + unit_ - 1) / unit_;
  if (!range && per_slice_ == 1)
    slice_unit_ = std::min(transfer.slices, chunk_bytes / (transfer.row_bytes * transfer.rows));
  slice_groups_ = (transfer.slices + slice_unit_ - 1) / slice_unit_;
}

// Where part `part` begins when the small parts come first: 0, 1/8, 3/8, 7/8, 15/8, 23/8, ... of a unit.
size_t Parts::ramp_boundary(size_t part) const noexcept {
  const size_t eighth = unit_ / 8;
  const size_t at = part <= RampParts ? ((size_t{1} << part) - 1) * eighth : 7 * eighth + (part - RampParts) * unit_;
  return std::min(at, transfer_.row_bytes);
}

Parts::Place Parts::place(size_t part) const noexcept {
  if (ramp_) {
    const bool up = transfer_.way == Way::ToDevice;
    const size_t first = up ? ramp_boundary(part) : transfer_.row_bytes - ramp_boundary(per_slice_ - part);
    const size_t end = up ? ramp_boundary(part + 1) : transfer_.row_bytes - ramp_boundary(per_slice_ - part - 1);
    return {0, 1, first, end - first};
  }
  const size_t units = transfer_.is_range() ? transfer_.row_bytes : transfer_.rows;
  const size_t first = part % per_slice_ * unit_;
  const size_t slice = part / per_slice_ * slice_unit_;
  return {slice, std::min(slice_unit_, transfer_.slices - slice), first, std::min(unit_, units - first)};
}

char* Parts::host(const Place& p) const noexcept {
  if (transfer_.is_range()) return transfer_.host + p.first;
  return transfer_.host + p.slice * transfer_.host_slice_pitch + p.first * transfer_.host_row_pitch;
}

Copy Parts::copy(size_t part, char* chunk) const noexcept {
  const Place p = place(part);
  char* const at = host(p);
  const bool up = transfer_.way == Way::ToDevice;
  Copy c;
  c.streaming = streaming_;
  c.programs = up ? Programs::From : Programs::To;
  c.to = up ? chunk : at;
  c.from = up ? at : chunk;
  if (transfer_.is_range()) {
    c.row_bytes = p.count;
    return c;
  }
  c.row_bytes = transfer_.row_bytes;
  c.rows = p.count;
  c.slices = p.slices;
  const size_t packed_slice = transfer_.row_bytes * p.count;
  c.to_row_pitch = up ? transfer_.row_bytes : transfer_.host_row_pitch;
  c.to_slice_pitch = up ? packed_slice : transfer_.host_slice_pitch;
  c.from_row_pitch = up ? transfer_.host_row_pitch : transfer_.row_bytes;
  c.from_slice_pitch = up ? transfer_.host_slice_pitch : packed_slice;
  return merged(c);
}

cl_int Parts::enqueue(const ClFunctions& cl, cl_command_queue queue, size_t part, char* chunk, cl_uint waits,
                      const cl_event* wait_list, cl_event* event) const noexcept {
  const Place p = place(part);
  return enqueue_at(cl, queue, p, CL_FALSE, chunk, transfer_.row_bytes, transfer_.row_bytes * p.count, waits,
                    wait_list, event);
}

cl_int Parts::enqueue_direct(const ClFunctions& cl, cl_command_queue queue, size_t part) const noexcept {
  const Place p = place(part);
  return enqueue_at(cl, queue, p, CL_TRUE, host(p), transfer_.host_row_pitch, transfer_.host_slice_pitch, 0, nullptr,
                    nullptr);
}

cl_int Parts::enqueue_at(const ClFunctions& cl, cl_command_queue queue, const Place& p, cl_bool blocking,
                         char* memory, size_t row_pitch, size_t slice_pitch, cl_uint waits,
                         const cl_event* wait_list, cl_event* event) const noexcept {
  const HostTransfer& m = transfer_;
  const bool up = m.way == Way::ToDevice;
  if (m.shape == HostTransfer::Shape::Range) {
    const size_t offset = m.origin[0] + p.first;
    return up ? cl.clEnqueueWriteBuffer(queue, m.mem, blocking, offset, p.count, memory, waits, wait_list, event)
              : cl.clEnqueueReadBuffer(queue, m.mem, blocking, offset, p.count, memory, waits, wait_list, event);
  }
  if (m.shape == HostTransfer::Shape::Svm) {
    char* const there = m.svm + p.first;
    return cl.clEnqueueSVMMemcpy(queue, blocking, up ? there : memory, up ? memory : there, p.count, waits, wait_list,
                                 event);
  }
  const size_t origin[3] = {m.origin[0], m.origin[1] + p.first, m.origin[2] + p.slice};
  const size_t width = m.shape == HostTransfer::Shape::Image ? m.row_pixels : m.row_bytes;
  const size_t region[3] = {width, p.count, p.slices};
  if (p.slices == 1) slice_pitch = 0;  // where there is one slice only, some images take no pitch
  const size_t nowhere[3] = {};
  if (m.shape == HostTransfer::Shape::Box)
    return up ? cl.clEnqueueWriteBufferRect(queue, m.mem, blocking, origin, nowhere, region, m.mem_row_pitch,
                                            m.mem_slice_pitch, row_pitch, slice_pitch, memory, waits, wait_list, event)
              : cl.clEnqueueReadBufferRect(queue, m.mem, blocking, origin, nowhere, region, m.mem_row_pitch,
                                           m.mem_slice_pitch, row_pitch, slice_pitch, memory, waits, wait_list, event);
  return up ? cl.clEnqueueWriteImage(queue, m.mem, blocking, origin, region, row_pitch, slice_pitch, memory, waits,
                                     wait_list, event)
            : cl.clEnqueueReadImage(queue, m.mem, blocking, origin, region, row_pitch, slice_pitch, memory, waits,
                                    wait_list, event);
}

}  // namespace gt::staging
