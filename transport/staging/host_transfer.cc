// Making transfers out of OpenCL's arguments, and parts out of transfers.
#include "transport/staging/host_transfer.h"

#include <unistd.h>

#include <algorithm>

#include "transport/copy/command.h"
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
bool is_there(const HostTransfer& t) noexcept {
  const auto is_there = [&](size_t at, size_t bytes) {
    return t.way == Way::ToDevice ? is_readable(t.host + at, bytes) : is_writable(t.host + at, bytes);
  };
  const copy::Layout& l = t.layout;
  const bool close = l.height == 1 || l.row_step() - l.width < FaultPage;
  const size_t runs = close ? 1 : l.height, run = close ? (l.height - 1) * l.row_step() + l.width : l.width;
  for (size_t slice = 0; slice < l.depth; ++slice)
    for (size_t row = 0; row < runs; ++row)
      if (!is_there(slice * l.slice_step() + row * l.row_step(), run)) return false;
  return true;
}

HostTransfer range_transfer(Way way, cl_mem mem, size_t offset, size_t bytes, const void* host) noexcept {
  size_t end = 0;
  return {.way = way,
          .mem = mem,
          .region = copy::range(offset, bytes),
          .end = __builtin_add_overflow(offset, bytes, &end) ? 0 : end,
          .host = writable(host),
          .layout = {0, bytes}};
}

HostTransfer svm_transfer(Way way, const void* svm, size_t bytes, const void* host) noexcept {
  HostTransfer t = range_transfer(way, nullptr, 0, bytes, host);
  t.region.shape = t.called = HostTransfer::Shape::Svm;
  t.svm = writable(svm);
  return t;
}

HostTransfer box_transfer(Way way, cl_mem mem, const size_t* buffer_origin, const size_t* host_origin,
                          const size_t* region, size_t buffer_row_pitch, size_t buffer_slice_pitch,
                          size_t host_row_pitch, size_t host_slice_pitch, const void* host) noexcept {
  const copy::Region there = copy::box(buffer_origin, region, buffer_row_pitch, buffer_slice_pitch);
  const copy::Region here = copy::box(host_origin, region, host_row_pitch, host_slice_pitch);
  const copy::Bounds in_buffer = copy::bounds(there), in_host = copy::bounds(here);
  const size_t bytes = copy::packed_bytes(there, 1);
  if (!in_buffer.known || !in_host.known || bytes == 0) return {};
  const char* const first = static_cast<const char*>(host) + in_host.begin;
  HostTransfer t = range_transfer(way, mem, in_buffer.begin, bytes, first);
  t.called = HostTransfer::Shape::Box;
  const bool taken = in_buffer.sound && in_buffer.even && in_host.sound && in_host.even;
  t.end = taken ? in_buffer.end : 0;
  if (copy::is_dense(there) && copy::is_dense(here)) return t;
  t.region = there;
  t.layout = copy::layout(here, in_host);
  t.layout.offset = 0;
  return t;
}

HostTransfer image_transfer(Way way, cl_mem image, const size_t* origin, const size_t* region, size_t row_pitch,
                            size_t slice_pitch, size_t pixel_bytes, const void* host) noexcept {
  HostTransfer t;
  t.way = way;
  t.called = HostTransfer::Shape::Image;
  t.mem = image;
  t.region = copy::image(origin, region);
  t.element = pixel_bytes;
  if (copy::packed_bytes(t.region, pixel_bytes) == 0) return {};
  t.host = writable(host);
  t.layout = {0, region[0] * pixel_bytes, region[1], region[2], row_pitch, slice_pitch};
  return t;
}

Parts::Parts(const HostTransfer& transfer, size_t chunk_bytes) noexcept
    : transfer_(transfer), chunk_bytes_(chunk_bytes), chunks_(transfer.region, transfer.element, chunk_bytes) {
  const size_t bytes = chunks_.bytes();
  streaming_ = (transfer.way == Way::ToDevice) == (bytes <= cached_bytes());
  const bool ramp = transfer.region.is_range() && chunk_bytes >= LeastRamped && chunks_.count() > 2;
  if (ramp) ramped_ = RampParts + (bytes - chunk_bytes / 8 * 7 + chunk_bytes - 1) / chunk_bytes;
}

// Where part `part` begins when the small parts come first: 0, 1/8, 3/8, 7/8, 15/8, 23/8, ... of a chunk.
size_t Parts::ramp_boundary(size_t part) const noexcept {
  const size_t eighth = chunk_bytes_ / 8;
  const size_t at =
      part <= RampParts ? ((size_t{1} << part) - 1) * eighth : 7 * eighth + (part - RampParts) * chunk_bytes_;
  return std::min(at, chunks_.bytes());
}

copy::Region Parts::region(size_t part) const noexcept {
  if (!ramped_) return chunks_.at(part).part;
  const bool up = transfer_.way == Way::ToDevice;
  const size_t first = up ? ramp_boundary(part) : chunks_.bytes() - ramp_boundary(ramped_ - part);
  const size_t end = up ? ramp_boundary(part + 1) : chunks_.bytes() - ramp_boundary(ramped_ - part - 1);
  copy::Region region = transfer_.region;
  region.origin[0] += first;
  region.region[0] = end - first;
  return region;
}

// Only ranges are cut inside of a row.
char* Parts::host(const copy::Region& part) const noexcept {
  const auto& origin = transfer_.region.origin;
  return transfer_.host + (part.origin[2] - origin[2]) * transfer_.layout.slice_step() +
         (part.origin[1] - origin[1]) * transfer_.layout.row_step() + (part.origin[0] - origin[0]);
}

Copy Parts::copy(size_t part, char* chunk) const noexcept {
  const copy::Region r = region(part);
  const copy::Layout& l = transfer_.layout;
  char* const at = host(r);
  const bool up = transfer_.way == Way::ToDevice;
  Copy c;
  c.streaming = streaming_;
  c.programs = up ? Programs::From : Programs::To;
  c.to = up ? chunk : at;
  c.from = up ? at : chunk;
  c.row_bytes = r.region[0] * transfer_.element;
  if (r.is_range()) return c;
  c.rows = r.region[1];
  c.slices = r.region[2];
  const size_t packed_slice = c.row_bytes * c.rows;
  c.to_row_pitch = up ? c.row_bytes : l.row_step();
  c.to_slice_pitch = up ? packed_slice : l.slice_step();
  c.from_row_pitch = up ? l.row_step() : c.row_bytes;
  c.from_slice_pitch = up ? l.slice_step() : packed_slice;
  return merged(c);
}

cl_int Parts::enqueue(const ClFunctions& cl, cl_command_queue queue, size_t part, char* chunk, cl_uint waits,
                      const cl_event* wait_list, cl_event* event) const noexcept {
  const copy::Region r = region(part);
  const size_t row = r.region[0] * transfer_.element;
  const copy::Ends ends{transfer_.mem, transfer_.svm, chunk, row, row * r.region[1]};
  return copy::enqueue(cl, queue, transfer_.way, CL_FALSE, ends, r, {wait_list, waits}, event);
}

cl_int Parts::enqueue_direct(const ClFunctions& cl, cl_command_queue queue, size_t part) const noexcept {
  const copy::Region r = region(part);
  const copy::Ends ends{transfer_.mem, transfer_.svm, host(r), transfer_.layout.row_step(),
                        transfer_.layout.slice_step()};
  return copy::enqueue(cl, queue, transfer_.way, CL_TRUE, ends, r, {}, nullptr);
}

}  // namespace gt::staging
