// Asking clGetKernelArgInfo; the lines are described in traces/model/folded/kernel_origin.h.
#include "tracer/lib/kernel_args.h"

#include <algorithm>
#include <cstring>

namespace gt::tracer {
namespace {

constexpr cl_uint MostArgs = 256;

// Lines in a buffer that they must fit in.
class Lines {
 public:
  void add(const char* text, char end) {
    for (; *text; ++text) put(*text == '\t' || *text == '\n' ? ' ' : *text);
    put(end);
  }
  bool whole() const { return fits_; }
  const char* data() const { return text_; }
  size_t size() const { return size_; }

 private:
  void put(char c) {
    fits_ &= size_ < sizeof text_;
    if (fits_) text_[size_++] = c;
  }
  char text_[6144];
  size_t size_ = 0;
  bool fits_ = true;
};

const char* address_text(cl_kernel_arg_address_qualifier q) {
  switch (q) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL:
      return "global";
    case CL_KERNEL_ARG_ADDRESS_LOCAL:
      return "local";
    case CL_KERNEL_ARG_ADDRESS_CONSTANT:
      return "constant";
    default:
      return "private";
  }
}

const char* access_text(cl_kernel_arg_access_qualifier q) {
  switch (q) {
    case CL_KERNEL_ARG_ACCESS_READ_ONLY:
      return "read_only";
    case CL_KERNEL_ARG_ACCESS_WRITE_ONLY:
      return "write_only";
    case CL_KERNEL_ARG_ACCESS_READ_WRITE:
      return "read_write";
    default:
      return "none";
  }
}

// `const restrict volatile pipe`, those that are there.
void qualifiers_text(cl_kernel_arg_type_qualifier q, char (&out)[64]) {
  struct Name {
    cl_kernel_arg_type_qualifier bit;
    const char* text;
  };
  constexpr Name Names[] = {{CL_KERNEL_ARG_TYPE_CONST, "const "},
                            {CL_KERNEL_ARG_TYPE_RESTRICT, "restrict "},
                            {CL_KERNEL_ARG_TYPE_VOLATILE, "volatile "},
                            {CL_KERNEL_ARG_TYPE_PIPE, "pipe "}};
  out[0] = 0;
  for (const Name& n : Names)
    if (q & n.bit) std::strcat(out, n.text);
}

bool has_source(cl_kernel kernel) {
  auto kernel_info = real<decltype(clGetKernelInfo)>(FnId::clGetKernelInfo);
  auto program_info = real<decltype(clGetProgramInfo)>(FnId::clGetProgramInfo);
  cl_program program = nullptr;
  size_t bytes = 0;
  if (!kernel_info || !program_info) return true;  // nothing can be asked
  if (kernel_info(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, nullptr) != CL_SUCCESS || !program) return true;
  const cl_int error = program_info(program, CL_PROGRAM_SOURCE, 0, nullptr, &bytes);
  return error == CL_SUCCESS && bytes > 1;  // an empty text is its NUL
}

bool describe(cl_kernel kernel, cl_uint index, Lines& out) {
  auto get = real<decltype(clGetKernelArgInfo)>(FnId::clGetKernelArgInfo);
  cl_kernel_arg_address_qualifier address = 0;
  cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
  cl_kernel_arg_type_qualifier qualifiers = 0;
  char type[256] = "", name[256] = "", words[64];
  if (get(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, nullptr) != CL_SUCCESS ||
      get(kernel, index, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, nullptr) != CL_SUCCESS ||
      get(kernel, index, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifiers, &qualifiers, nullptr) != CL_SUCCESS)
    return false;
  // Names are for people; they may be too long, or not known.
  if (get(kernel, index, CL_KERNEL_ARG_TYPE_NAME, sizeof type - 1, type, nullptr) != CL_SUCCESS) type[0] = 0;
  if (get(kernel, index, CL_KERNEL_ARG_NAME, sizeof name - 1, name, nullptr) != CL_SUCCESS) name[0] = 0;
  qualifiers_text(qualifiers, words);
  out.add(address_text(address), '\t');
  out.add(access_text(access), '\t');
  out.add(words, '\t');
  out.add(type, '\t');
  out.add(name, '\n');
  return true;
}

}  // namespace

void record_kernel_args(cl_kernel kernel) {
  auto info = real<decltype(clGetKernelInfo)>(FnId::clGetKernelInfo);
  Ring* ring = this_ring();
  if (!kernel || !ring || !info || !real<decltype(clGetKernelArgInfo)>(FnId::clGetKernelArgInfo)) return;
  if (has_source(kernel)) return;
  cl_uint count = 0;
  if (info(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr) != CL_SUCCESS) return;
  if (count == 0 || count > MostArgs) return;
  Lines lines;
  for (cl_uint i = 0; i < count; ++i)
    if (!describe(kernel, i, lines)) return;
  if (!lines.whole()) return;
  const uint64_t words[] = {reinterpret_cast<uint64_t>(kernel), lines.size()};
  const auto padded = static_cast<uint32_t>((lines.size() + 7) & ~size_t{7});
  const uint32_t bytes = static_cast<uint32_t>(sizeof(RecordHeader) + sizeof words) + padded;
  uint8_t* at = reserve(*ring, RecordType::KernelArgs, 0, bytes, ticks());
  if (!at) return;
  std::memcpy(at, words, sizeof words);
  std::memcpy(at + sizeof words, lines.data(), lines.size());
  commit(*ring, bytes);
}

template <>
cl_kernel call_real<FnId::clCreateKernel, cl_kernel>(cl_program program, const char* name, cl_int* error) {
  auto create = real<decltype(clCreateKernel)>(FnId::clCreateKernel);
  if (!create) return api::missing_result<FnId::clCreateKernel, cl_kernel>(program, name, error);
  cl_kernel kernel = create(program, name, error);
  if (recording()) record_kernel_args(kernel);
  return kernel;
}

template <>
cl_kernel call_real<FnId::clCloneKernel, cl_kernel>(cl_kernel from, cl_int* error) {
  auto clone = real<decltype(clCloneKernel)>(FnId::clCloneKernel);
  if (!clone) return api::missing_result<FnId::clCloneKernel, cl_kernel>(from, error);
  cl_kernel kernel = clone(from, error);
  if (recording()) record_kernel_args(kernel);
  return kernel;
}

}  // namespace gt::tracer
