// What the kernels of a program do with their arguments: values, made from OpenCL C by read_kernels()
// (analyzer/kernels/kernel_source.h) and from SPIR-V by read_spirv() (spirv_kernels.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gt::kernels {

enum class AddressSpace : uint8_t { Private, Global, Constant, Local };
enum class Access : uint8_t { None = 0, Read = 1, Write = 2, ReadWrite = 3 };  // bits: 1 reads, 2 writes

constexpr bool reads(Access a) { return (static_cast<uint8_t>(a) & 1) != 0; }
constexpr bool writes(Access a) { return (static_cast<uint8_t>(a) & 2) != 0; }
// Is the argument memory that outlives the launch: a buffer, an image, a pipe, SVM?
constexpr bool is_memory_object(AddressSpace s) { return s == AddressSpace::Global || s == AddressSpace::Constant; }

const char* address_space_name(AddressSpace space);  // "private", "global", ...
const char* access_name(Access access);              // "none", "read", "write", "read_write"

// An address inside an argument that is passed by value, as SYCL's front ends pass what a kernel captures.
struct Member {
  uint64_t offset = 0;           // bytes
  Access access = Access::None;  // of the memory that it leads to
};
struct Arg {
  std::string name;                            // empty where it was stripped
  std::string type;                            // as the source has it: "global float *"
  AddressSpace space = AddressSpace::Private;  // Private: passed by value (a sampler too)
  // Of the memory behind it; None for values. A pipe is read where packets are taken from it, though
  // that changes it.
  Access access = Access::None;
  // Its address is stored in memory, or given to code that is not there: it may come back in another launch. Told of
  // SPIR-V only.
  bool escapes = false;
  std::vector<Member> members = {};  // of SPIR-V only: of OpenCL C they count as `elsewhere`
};
struct Kernel {
  std::string name;
  std::vector<Arg> args;
  // Of memory that none of its arguments leads to: through pointers that it loads, or that an
  // earlier kernel left in a variable of the program. Also counted in `args`.
  Access elsewhere = Access::None;
};
struct Source {
  std::vector<Kernel> kernels;
  bool exact = false;  // false: accesses are read_write because the source could not be understood
  std::string note;    // why not exact, or what was assumed; may be empty
};

}  // namespace gt::kernels
