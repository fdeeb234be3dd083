// What the kernels of an OpenCL C program do with their arguments, found with libclang.
//
// For each argument: its name, address space, and whether the kernel reads or writes the memory
// behind it. The answer is an upper bound: an access that may happen is never left out. Where the
// source does not tell (it does not compile here, is C++ for OpenCL, turns pointers into integers,
// loads pointers from buffers, ...) the answer is read_write.
//
// Sources come from programs, so they are hostile: libclang runs in a forked child with limits on
// time and memory. What it does to that child costs the facts of one source, never the caller.
// Thread safety: read_kernels() forks and may be called from any thread of a program that holds no
// lock of libclang. Cost: some 50 ms for a source, in the child.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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

struct Limits {
  unsigned seconds = 10;  // of processor time; twice that of wall time
  uint64_t memory_bytes = 2ull << 30;
};

// `options`: as given to clBuildProgram. `folder`: where relative paths of includes begin; "": in the
// present folder. Always answers; a source that libclang could not live through has no kernels and a note.
Source read_kernels(std::string_view source, std::string_view options, const Limits& limits = {},
                    const std::string& folder = {});

}  // namespace gt::kernels
