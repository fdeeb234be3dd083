// A program: what it was made of, and for each device how its last build went.
//
// It is made at all sub-contexts of its context when it is made here; builds run at all of them at once.
// Thread safety: `mutex` for what changes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "optimizer-rt/client/base/latch.h"
#include "optimizer-rt/client/base/object.h"
#include "optimizer-rt/client/objects/context.h"
#include "traces/base/mutex.h"
#include "traces/kernels/spirv_kernels.h"
#include "transport/protocol/messages.h"

namespace gt::virt {

struct BuildState {
  cl_build_status status = CL_BUILD_NONE;
  cl_program_binary_type binary_type = CL_PROGRAM_BINARY_TYPE_NONE;
  std::string options, log;
};

}  // namespace gt::virt

struct _cl_program : gt::virt::Object {
  static constexpr auto Kind = gt::virt::Type::Program;
  static constexpr cl_int Invalid = CL_INVALID_PROGRAM;

  // For these devices of the context.
  _cl_program(_cl_context& context, std::vector<_cl_device_id*> devices);
  ~_cl_program();

  // 0: for none of its devices.
  gt::virt::ObjectId at(gt::virt::SubContext& sub_context) { return names[sub_context.index]; }
  // The devices asked for (none: all), checked.
  std::vector<_cl_device_id*> chosen(cl_uint n, const cl_device_id* list);
  std::vector<_cl_device_id*> living_devices() const;
  bool built();  // for some device
  const gt::wire::KernelInfo* find_kernel(const std::string& name) const GT_REQUIRES(mutex);
  // Waits for a build under way that calls the program back. Natively it may be over when its call returns, and
  // programs go on without having been called.
  void settle();
  // Reads what the program was made from, for may_write(). REQUIRES: the program has not got it yet.
  void read_module();
  // By argument: may a kernel write what is behind it, by its SPIR-V? Empty: that does not tell.
  std::vector<bool> may_write(const std::string& kernel);

  const gt::virt::Ref<_cl_context> context;
  const std::vector<_cl_device_id*> devices;
  std::vector<gt::virt::ObjectId> names;  // by sub-context; set before the program gets it
  std::string source, built_in;
  gt::Bytes il;
  // Of that, or of all that it was linked from; set before the program gets it.
  std::vector<std::shared_ptr<const gt::kernels::SpirvKernels>> modules;
  bool from_binary = false, from_source = false;

  gt::Mutex mutex;
  std::map<_cl_device_id*, gt::virt::BuildState> builds GT_GUARDED_BY(mutex);
  std::vector<gt::wire::KernelInfo> kernels GT_GUARDED_BY(mutex);
  // Of the latest build; nullptr: nobody may have to wait for it.
  std::shared_ptr<gt::virt::Latch> building GT_GUARDED_BY(mutex);
  cl_uint attached GT_GUARDED_BY(mutex) = 0;  // kernels that exist: no build meanwhile
  std::vector<gt::virt::BuildWay> ways GT_GUARDED_BY(mutex);  // of the sources of its kernels, the last time
  std::map<std::string, std::vector<bool>> written GT_GUARDED_BY(mutex);  // by kernel: may_write()
  // What the driver says to arguments: kernel, index, size, whether there is a value.
  std::map<std::tuple<std::string, cl_uint, size_t, bool>, cl_int> argument_sizes GT_GUARDED_BY(mutex);
};

namespace gt::virt {

using ProgramNotify = void(CL_CALLBACK*)(cl_program, void*);

// Asks what the drivers know of a program that nobody has built yet: what kind of binary it was made from.
void describe(_cl_program& program);

}  // namespace gt::virt
