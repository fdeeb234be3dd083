// CL_PRINTF_CALLBACK_ARM: a function of the program in a context's property list, called with what kernels print.
//
// The driver gets a copy of the list with a function of ours in it; a program that asks for the list gets its own.
// Thread safety: values.
#pragma once

#include <CL/cl.h>

#include <span>

namespace gt::tracer {

class PrintfCallback {
 public:
  // The function in a list; nullptr when there is none, or the list is longer than those that we copy.
  void* find(const cl_context_properties* list);
  // REQUIRES: find() found one. The list with our function in its place; lives as long as this.
  const cl_context_properties* list() const { return copy_; }

 private:
  static constexpr size_t Most = 64;
  cl_context_properties copy_[Most];
};

// Puts the program's function back where ours stands.
void show_own_printf(std::span<cl_context_properties> list, cl_context context);

}  // namespace gt::tracer
