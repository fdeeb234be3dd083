#include "optimizer-rt/cl/copied_memory.h"

#include "optimizer-rt/cl/counted_handles.h"
#include "optimizer-rt/cl/plan_device.h"
#include "optimizer-rt/cl/real.h"
#include "optimizer-rt/cl/staging.h"
#include "optimizer-rt/cl/transfers.h"
#include "traces/api/image_bytes.h"

namespace gt::opt {
namespace {

// An object is known while the program, or one made of it, holds a reference.
struct Origin {
  cl_mem parent = nullptr;   // made of it
  cl_mem_flags hidden = 0;   // what the driver would not tell had it made the object
};
constexpr size_t Most = 4096;
using Copied = CountedHandles<cl_mem, Origin, Most>;
constinit Copied g_copied;

constexpr cl_mem_flags Usual = CL_MEM_COPY_HOST_PTR | CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY |
                               CL_MEM_HOST_WRITE_ONLY;

bool is_usual_image(const Creation& c) {
  const cl_image_desc& d = *c.desc;
  const bool flat = d.image_type == CL_MEM_OBJECT_IMAGE2D;
  return c.format && (flat || d.image_type == CL_MEM_OBJECT_IMAGE3D || d.image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY) &&
         d.image_row_pitch == 0 && d.image_slice_pitch == 0 && d.num_mip_levels == 0 && d.num_samples == 0 &&
         !d.mem_object;
}
bool is_usual(const Creation& c) {
  return (c.flags & ~Usual) == 0 && c.host && (!c.properties || *c.properties == 0) && (!c.desc || is_usual_image(c));
}

cl_mem make_empty(const Creation& c) {
  const cl_mem_flags flags = c.flags & ~cl_mem_flags{CL_MEM_COPY_HOST_PTR};
  cl_int err = CL_SUCCESS;
  cl_mem mem = nullptr;
  if (!c.desc && !c.with_properties) {
    if (const auto f = GT_REAL(clCreateBuffer)) mem = f(c.context, flags, c.bytes, nullptr, &err);
  } else if (!c.desc) {
    if (const auto f = GT_REAL(clCreateBufferWithProperties))
      mem = f(c.context, c.properties, flags, c.bytes, nullptr, &err);
  } else if (!c.with_properties) {
    if (const auto f = GT_REAL(clCreateImage)) mem = f(c.context, flags, c.format, c.desc, nullptr, &err);
  } else {
    if (const auto f = GT_REAL(clCreateImageWithProperties))
      mem = f(c.context, c.properties, flags, c.format, c.desc, nullptr, &err);
  }
  return err == CL_SUCCESS ? mem : nullptr;
}

// What it is filled from. Without bytes: that cannot be right, or is not known.
staging::HostTransfer contents_of(const Creation& c, cl_mem mem) {
  if (!c.desc) return staging::range_transfer(staging::Way::ToDevice, mem, 0, c.bytes, c.host);
  const cl_image_desc& d = *c.desc;
  const bool volume = d.image_type == CL_MEM_OBJECT_IMAGE3D, flat = d.image_type == CL_MEM_OBJECT_IMAGE2D;
  const size_t depth = volume ? d.image_depth : flat ? 1 : d.image_array_size;
  const size_t nowhere[3] = {}, whole[3] = {d.image_width, d.image_height, depth};
  return staging::image_transfer(staging::Way::ToDevice, mem, nowhere, whole, 0, 0, api::element_size(*c.format),
                                 c.host);
}

constexpr cl_mem_flags Access = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;

bool ask_flags(cl_mem mem, cl_mem_flags* out) {
  const auto info = GT_REAL(clGetMemObjectInfo);
  return info && info(mem, CL_MEM_FLAGS, sizeof *out, out, nullptr) == CL_SUCCESS;
}

// Without a word on access a driver may tell the default, or nothing; and another thing of no flags at all. So it is
// tried out. False: the driver did not answer.
bool find_hidden(const Creation& c, cl_mem mem, cl_mem_flags* hidden) {
  if (c.flags & Access) return true;
  const auto create = GT_REAL(clCreateBuffer);
  const auto release = GT_REAL(clReleaseMemObject);
  char byte = 0;
  cl_mem_flags native = 0, ours = 0;
  cl_mem trial = create && release ? create(c.context, c.flags, 1, &byte, nullptr) : nullptr;
  const bool known = trial && ask_flags(trial, &native) && ask_flags(mem, &ours);
  if (trial) release(trial);
  *hidden = ours & ~native;
  return known;
}

void let_go(cl_mem mem) {
  memory_releasing(mem);
  if (const auto release = GT_REAL(clReleaseMemObject)) release(mem);
}

bool create_staged(const Creation& c, size_t bytes, cl_mem* out) {
  if (!is_usual(c)) return false;
  cl_device_id device = only_device(c.context);
  if (!device || !contents_pay(c.context, device, bytes)) return false;
  cl_mem mem = make_empty(c);
  if (!mem) return false;  // the driver says why, when it is asked as the program asked us
  Origin origin;
  if (!find_hidden(c, mem, &origin.hidden) || !g_copied.add(mem, origin) ||
      !stage_contents(c.context, device, contents_of(c, mem)))
    return let_go(mem), false;
  if (c.error) *c.error = CL_SUCCESS;
  *out = mem;
  return true;
}

}  // namespace

bool create_copied(const Creation& c, cl_mem* out) noexcept {
  if (!c.context || !(c.flags & CL_MEM_COPY_HOST_PTR) || (c.desc && !c.format)) return false;
  const size_t bytes = contents_of(c, nullptr).bytes();
  if (!before_copy_in(c.host, bytes)) return false;
  if (create_staged(c, bytes, out)) return true;
  left_to_copy_in(c.context, c.host, bytes);
  return false;
}

void memory_derived(cl_mem child, cl_mem_flags flags, cl_mem parent) noexcept {
  Copied::Entry entry;
  if (!child || !parent || !g_copied.look_up(parent, &entry) || !g_copied.retain(parent)) return;
  const cl_mem_flags inherited = flags & Access ? 0 : entry.facts.hidden;
  if (!g_copied.add(child, {parent, inherited})) memory_releasing(parent);
}
void memory_retained(cl_mem mem) noexcept { g_copied.retain(mem); }
void memory_releasing(cl_mem mem) noexcept {
  Origin origin;
  while (mem && g_copied.release(mem, &origin)) mem = origin.parent;
}

void correct_memory_info(cl_mem mem, cl_mem_info what, size_t size, void* value) noexcept {
  Copied::Entry entry;
  if (what != CL_MEM_FLAGS || !value || size < sizeof(cl_mem_flags) || !g_copied.look_up(mem, &entry)) return;
  auto& flags = *static_cast<cl_mem_flags*>(value);
  flags = (flags & ~entry.facts.hidden) | CL_MEM_COPY_HOST_PTR;
}

// Held from one call to the next.
void lock_copied_memory() noexcept GT_NO_THREAD_SAFETY_ANALYSIS { g_copied.lock(); }
void unlock_copied_memory() noexcept GT_NO_THREAD_SAFETY_ANALYSIS { g_copied.unlock(); }

}  // namespace gt::opt
