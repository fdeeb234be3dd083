// Buffers, sub-buffers and images, and where their contents are.
//
// Sub-buffers, and images made of a buffer, share the contents of their root. In a context with several sub-contexts
// the contents are valid at some of them; commands ask for them where they run (Command::reads, writes), and what is
// missing there is moved. Host memory (USE_HOST_PTR) and what maps show is a shadow that commands do not see: maps read
// it, unmaps write it back.
// Thread safety: `residency` belongs to the context's mutex of that name; maps have a mutex; the rest never changes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "optimizer-rt/client/base/object.h"
#include "optimizer-rt/client/memory/residency.h"
#include "optimizer-rt/client/memory/shadow.h"
#include "optimizer-rt/client/objects/context.h"
#include "traces/base/mutex.h"
#include "transport/copy/packed.h"
#include "transport/protocol/messages.h"

namespace gt::virt {

struct Mapping {
  void* pointer = nullptr;
  cl_map_flags flags = 0;
  copy::Region part;
  copy::Layout layout;  // of the part in the shadow
};

}  // namespace gt::virt

struct _cl_mem : gt::virt::Object {
  static constexpr auto Kind = gt::virt::Type::Mem;
  static constexpr cl_int Invalid = CL_INVALID_MEM_OBJECT;

  _cl_mem(_cl_context& context, cl_mem_object_type type, cl_mem_flags flags, size_t size);
  ~_cl_mem();

  // A buffer over shared virtual memory: maps of both are the same.
  bool lies_in_svm() { return !is_image() && root().svm; }
  bool is_image() const { return type != CL_MEM_OBJECT_BUFFER; }
  _cl_mem& root() { return parent ? parent->root() : *this; }
  size_t origin_in_root() const { return parent ? origin + parent->origin_in_root() : 0; }
  gt::virt::ObjectId at(gt::virt::SubContext& sub_context);  // made if need be
  // Made at once, and waited for: our own rules would refuse it, and its driver may not. Throws what that says when it
  // cannot be made at any sub-context.
  void require_native();
  bool is_made(const gt::virt::SubContext& sub_context) { return names_.made_at(sub_context) != 0; }
  // It is another native object from now on, which has this name there; the one before is let go of. REQUIRES: the
  // context's residency is locked.
  void rename(gt::virt::SubContext& sub_context, gt::virt::ObjectId name);
  void renew(
      gt::virt::SubContext& sub_context);  // as rename(): a native object that is made as the first one was, but empty
  // All of it, as a part of a transfer.
  gt::copy::Region whole() const;
  size_t element() const { return is_image() ? element_bytes : 1; }

  // The memory that maps show; allocated on first use. Throws CL_MAP_FAILURE without memory.
  uint8_t* shadow();
  size_t row_pitch() const;    // of the shadow (images)
  size_t slice_pitch() const;

  const gt::virt::Ref<_cl_context> context;
  const cl_mem_object_type type;
  const cl_mem_flags flags;  // as they are meant: with an access
  const size_t size;
  // As CL_MEM_FLAGS tells them; asks the driver if need be.
  cl_mem_flags told_flags();
  cl_mem_flags given_flags = 0;  // by the program
  const uint64_t serial;  // tells it from a later object at the same address
  void* host_ptr = nullptr;
  std::shared_ptr<gt::virt::SvmBlock> svm;  // what host_ptr lies in; of roots
  std::vector<cl_mem_properties> properties;  // with their final 0; empty: none
  gt::virt::Ref<_cl_mem> parent;
  size_t origin = 0;  // in the parent
  // Images
  cl_image_format format{};
  cl_image_desc desc{};  // row_pitch, slice_pitch: the shadow's
  size_t element_bytes = 1;

  gt::virt::Residency residency;
  gt::Mutex mutex;
  std::vector<gt::virt::Mapping> maps GT_GUARDED_BY(mutex);
  gt::virt::Farewells farewells GT_GUARDED_BY(mutex);

  // What the first native object is made with; dense. Set only while it is made.
  const void* initial = nullptr;

 private:
  template <class Say>
  gt::virt::ObjectId make_native(gt::virt::SubContext& sub_context, Say say);
  gt::virt::ObjectId send_native(gt::virt::SubContext& sub_context);

  gt::virt::Names names_;
  std::unique_ptr<gt::virt::Shadow> shadow_ GT_GUARDED_BY(mutex);
};

namespace gt::virt {

// Flags as clCreateBuffer and clCreateImage check them.
void check_mem_flags(cl_mem_flags flags, const void* host_ptr);
bool host_reads(cl_mem_flags flags);
bool host_writes(cl_mem_flags flags);
// Of a sub-buffer or an image of a buffer: what it does not say it has from its parent.
cl_mem_flags inherited_flags(cl_mem_flags flags, cl_mem_flags parent);

// Is this the address of a live memory object? For kernel arguments whose kind nobody knows.
Ref<_cl_mem> live_mem(const void* handle);

}  // namespace gt::virt
