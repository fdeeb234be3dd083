// What the kernels of a source do with their arguments: values, made by read_kernels() (kernel_source.h).
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

struct Arg {
  std::string name;
  std::string type;                            // as the source has it: "global float *"
  AddressSpace space = AddressSpace::Private;  // Private: passed by value (a sampler too)
  // Of the memory behind it; None for values. A pipe is read where packets are taken from it, though
  // that changes it.
  Access access = Access::None;
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
