// What the driver of a sub-context does where OpenCL lets drivers do as they like: programs see what they see natively.
// Asked of the driver when a program first depends on it, and kept at the sub-context (known_habits.h).
// Thread safety: any thread. Cost: a message and its answer for each question, a build for those of builds.
#pragma once

#include <string>

#include "optimizer-rt/client/objects/known_habits.h"
#include "optimizer-rt/client/objects/sub_context.h"
#include "transport/protocol/messages.h"

namespace gt::virt {

class Habits {
 public:
  explicit Habits(SubContext& sub_context) : sub_context_(sub_context), known_(sub_context.habits) {}

  // CL_SUCCESS, or the error with which it refuses a command that moves, copies, fills or maps no bytes: one of
  // clEnqueueReadBuffer, WriteBuffer, CopyBuffer, FillBuffer, MapBuffer, those of boxes, ReadImage and WriteImage.
  // `region`: 0 on the sides that have no length, 1 on the others.
  using Region = KnownHabits::Region;
  static constexpr Region Empty{0, 1, 1};
  cl_int on_nothing(api::FnId command, const Region& region = Empty);
  // After CL_SUCCESS for clEnqueueMapBuffer: does it give the program a pointer, too?
  bool gives_pointer_to_nothing();
  // The same for clEnqueueSVMMemcpy and MemFill, at an address in a block.
  cl_int on_nothing(api::FnId command, void* svm);
  // The same for a box whose slice pitch is no multiple of its row pitch: clEnqueueReadBufferRect, WriteBufferRect,
  // CopyBufferRect.
  cl_int on_uneven_slices(api::FnId command);
  // Does CL_MEM_FLAGS of a buffer or image say CL_MEM_READ_WRITE where no access was given?
  bool adds_access(cl_mem_flags flags, bool image);
  // Does that keep what clGetKernelArgInfo tells?
  bool keeps_arg_info(const BuildWay& way);
  // Does CL_PROGRAM_BUILD_OPTIONS tell options without the blanks that separate nothing?
  bool tidies_options();

 private:
  struct Trial;

  cl_int ask_on_nothing(api::FnId command, const Region& region);
  cl_int ask_on_nothing_shared(api::FnId command, void* svm);
  cl_int transfer(bool to_device, ObjectId mem, const copy::Region& part);
  cl_int transfer_image(bool to_device, const copy::Region& part);
  cl_int copy(const copy::Region& box);
  ObjectId make_buffer(cl_mem_flags flags);
  ObjectId make_image(cl_mem_flags flags);
  void release(ObjectId mem);
  cl_int map_nothing();
  cl_int fill_nothing();
  bool ask_adds_access(cl_mem_flags flags, bool image);
  wire::Built trial_step(wire::Build message, const BuildOptions& options);
  Trial build_trial(const BuildWay& way, bool wants_options);
  // The answer to `question` among those, which `ask` finds out the first time.
  template <class Answers, class Question, class Ask>
  auto known(Answers KnownHabits::* answers, const Question& question, Ask ask);

  SubContext& sub_context_;
  KnownHabits& known_;
};

// Without blanks at both ends, and one in place of several that are not quoted.
std::string tidied(const std::string& options);

}  // namespace gt::virt
