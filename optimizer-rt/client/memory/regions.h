// Parts of memory objects as programs give them: checked, and as parts of transfers.
// Thread safety: values.
#pragma once

#include <array>
#include <cstddef>

#include "optimizer-rt/client/base/host_layout.h"
#include "optimizer-rt/client/memory/mem.h"
#include "traces/api/image_bytes.h"
#include "traces/base/checked_sum.h"
#include "transport/protocol/messages.h"

namespace gt::virt {

// A range that is not empty.
inline bool inside(size_t offset, size_t size, size_t whole) {
  return size != 0 && offset <= whole && size <= whole - offset;
}

// A range that lies inside, empty or not.
inline bool lies_inside(size_t offset, size_t size, size_t whole) { return offset <= whole && size <= whole - offset; }

// A box of a buffer, or of host memory: bytes, rows, slices.
class Box {
 public:
  Box(const size_t* origin, const size_t* region, size_t row_pitch, size_t slice_pitch)
      : origin_(origin), region_(region), row_(row_pitch ? row_pitch : region[0]) {
    const CheckedSum packed = CheckedSum().add(row_, region[1]);
    slice_ = slice_pitch ? slice_pitch : packed.value();
    const size_t bytes = api::box_bytes(region[0], region[1], region[2], row_, slice_);
    const CheckedSum begin = CheckedSum().add(origin[0]).add(origin[1], row_).add(origin[2], slice_);
    const CheckedSum end = CheckedSum(begin).add(bytes);
    empty_ = region[0] == 0 || region[1] == 0 || region[2] == 0;
    even_ = row_ == 0 || slice_ % row_ == 0;
    sound_ = (bytes != 0 || empty_) && row_ >= region[0] && packed.fits(slice_) && end.ok();
    begin_ = begin.value();
    end_ = end.value();
  }

  // With pitches that hold it, and no byte of it beyond what an address can say.
  bool sound() const { return sound_; }
  bool empty() const { return empty_; }
  // Slices begin where rows do: what the specification asks for, and not every driver.
  bool even() const { return even_; }
  size_t begin() const { return begin_; }
  size_t end() const { return end_; }  // behind the last byte
  size_t row() const { return row_; }
  size_t slice() const { return slice_; }
  HostLayout layout() const { return {begin(), region_[0], region_[1], region_[2], row_, slice_}; }
  wire::Part part() const {
    wire::Part part;
    part.shape = wire::Part::Shape::Box;
    part.origin = {origin_[0], origin_[1], origin_[2]};
    part.region = {region_[0], region_[1], region_[2]};
    part.row_pitch = row_;
    part.slice_pitch = slice_;
    return part;
  }

 private:
  const size_t* origin_;
  const size_t* region_;
  size_t row_, slice_, begin_, end_;
  bool sound_, empty_, even_;
};

// Which sides have no length: 0, and 1 for the others.
inline std::array<uint64_t, 3> sides(const size_t* region) {
  return {region[0] != 0, region[1] != 0, region[2] != 0};
}

inline wire::Part image_part(const size_t* origin, const size_t* region) {
  wire::Part part;
  part.shape = wire::Part::Shape::Image;
  part.origin = {origin[0], origin[1], origin[2]};
  part.region = {region[0], region[1], region[2]};
  return part;
}

// Neither NULL nor empty nor outside the image; coordinates that it lacks are 0 (origin) and 1 (region).
bool region_inside(const _cl_mem& image, const size_t* origin, const size_t* region);
// The same, but empty.
bool is_empty_inside(const _cl_mem& image, const size_t* origin, const size_t* region);
// Pitches of host memory as clEnqueueReadImage asks for; 0 is dense.
bool pitches_sound(const _cl_mem& image, const HostLayout& layout);

}  // namespace gt::virt
