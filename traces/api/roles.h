// The vocabulary of the OpenCL table: what a parameter of an OpenCL function *is*, beyond its type.
//
// The table (gen/api_table.inc) gives each parameter of each function one of the roles below. A
// visitor (encode.h, decode.h, invoke.h) says once per role what to do, and so works for every
// function; a visitor that forgets a role does not compile. What the C headers cannot say
// stands in annotations.txt; the program gen_table joins both.
//
//   GT_BEGIN(clEnqueueWriteBuffer, cl_int, Code)                   returns an error code
//   GT_PARAM(cl_command_queue, command_queue, ..., Use<K::Queue>)  a handle that the call uses
//   GT_PARAM(cl_mem, buffer, ..., Use<K::Buffer, E::UseDef>)       its contents: a new version
//   GT_PARAM(size_t, size, ..., Val)                               a plain number
//   GT_PARAM(const void*, ptr, ..., HostIn<Count<4>>)              memory; parameter 4 is its
//   length GT_PARAM(cl_event*, event, ..., OutHandle<K::Event>)           a handle that the call
//   makes
//
// To add a role: define it here, say in each visitor what it means, use it in annotations.txt,
// build the target `regenerate`.
//
// Thread safety: types only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gt::api {

// The kinds of objects that calls use, make and end. The first ones are handles of OpenCL; the rest
// is memory. Numbers are part of the trace format: appended, never reused.
enum class ObjectKind : uint8_t {
  Platform,
  Device,
  Context,
  Queue,
  Buffer,
  Image,
  Pipe,
  Sampler,
  Program,
  Kernel,
  Event,
  Semaphore,
  CommandBuffer,
  MutableCommand,
  OtherHandle,
  Segment,  // host memory from an allocation call
  Svm,      // host-visible memory from clSVMAlloc or an USM allocation
  Mapping,  // the pointer that a map call returned
  Static,   // a module's static data: label = module path; value = offset in the module
  Stack,    // a thread's stack
  File,     // a mapping of a file: label = its path
  Unknown,  // a pointer into memory that we know nothing of; in attributes: none
  Callback,  // a function of the program that a call registered, until it has been called for the last time
  String,   // host memory that strdup and its like returned
};
constexpr ObjectKind LastObjectKind = ObjectKind::String;
using HandleKind = ObjectKind;

// What a call does to the object that an argument names; SSA follows from it.
enum class Effect : uint8_t {
  None,     // scalars and the like
  Use,      // reads a version
  Def,      // writes a whole new version (a create, a malloc)
  UseDef,   // reads the old version and writes a new one (part of a buffer may stay)
  Release,  // ends the object (when the last reference goes)
};

enum class Transfer : uint8_t { None, HostToDevice, DeviceToHost, DeviceToDevice };

// What tells which way a call of a transfer function moves data, and whether it does at all (transfer_size.h).
enum class DirectionRule : uint8_t {
  Fixed,     // Attributes::transfer, always
  Map,       // map flags: to the host unless the old contents are not wanted
  Unmap,     // the flags of the map call: to the device if the host was to write
  Migrate,   // migration flags: to the device, or to the host; nothing when the contents do not matter
  Create,    // memory flags: to the device when the host memory is copied
  Pointers,  // whether source and destination are host memory or OpenCL's
};

// How an argument is laid out in encoded calls (wire.h). One role has one layout before the call
// and one after it.
enum class Wire : uint8_t {
  None,        // nothing
  Int,         // value
  Handle,      // value; 0 is NULL
  Code,        // address of a function
  Raw,         // a pointer-sized number that means nothing to us
  Pointer,     // address of memory known as `kind`
  HostData,    // address, length word, bytes unless the length says that they are absent
  Bytes,       // length word (or NULL), bytes
  Ints,        // count (or NULL), values
  Handles,     // count (or NULL), handles
  Pointers,    // count (or NULL), addresses of memory known as `kind`
  Strings,     // count (or NULL), byte strings
  Present,     // 1 when the program gave a pointer to be filled, else 0
  Properties,  // count (or NULL), the words of a property list without its final 0
  Info,        // what follows (InfoTag), then bytes
  Struct,  // count (or NULL), the fields; with a `kind` other than Unknown the last one is a handle
};

namespace role {

using K = ObjectKind;
using E = Effect;

// How many elements or bytes an array has.
template <size_t I>
struct Count {};  // as many as parameter I says
template <size_t N>
struct Fixed {};   // always N
struct Extent {};  // follows from several parameters: special.h says how, function by function

template <Wire In, Wire Out = Wire::None, K Kind = K::Unknown, E Eff = E::None>
struct Role {
  static constexpr Wire in = In;
  static constexpr Wire out = Out;
  static constexpr K kind = Kind;
  static constexpr E effect = Eff;
};

// clang-format off
// --- By value ---
struct Val : Role<Wire::Int> {};  // a number, an enumerator, a bit field
struct Opaque : Role<Wire::Raw> {};  // a pointer that has no meaning outside the process
struct UserData : Role<Wire::Raw> {};  // handed back to a callback
struct Callback : Role<Wire::Code> {};  // a function of the program
template <K Kind, E Eff = E::Use>
struct Use : Role<Wire::Handle, Wire::None, Kind, Eff> {};  // a handle
template <K Kind, E Eff = E::Use>
struct Ptr : Role<Wire::Pointer, Wire::None, Kind, Eff> {};  // address in memory that OpenCL made (Svm, Mapping)

// --- Arrays and structures read by the call ---
template <class N>
struct InArray : Role<Wire::Ints> {};  // numbers
template <class N, K Kind, E Eff = E::Use>
struct InHandles : Role<Wire::Handles, Wire::None, Kind, Eff> {};
template <class N, K Kind, E Eff = E::Use>
struct InPointers : Role<Wire::Pointers, Wire::None, Kind, Eff> {};
template <class N>
struct InBytes : Role<Wire::Bytes> {};  // bytes that are always kept: values, patterns, code
struct InString : Role<Wire::Bytes> {};  // text that ends with a NUL
template <class N>
struct InStrings : Role<Wire::Strings> {};  // N texts that end with a NUL
template <class N, size_t Lengths>
struct InBlobs : Role<Wire::Strings> {};  // N byte strings as long as parameter Lengths says (0: until a NUL)
struct InList : Role<Wire::Properties> {};  // key, value, ..., 0; values may be handles or lists
template <class T, K Last = K::Unknown>
struct InStruct : Role<Wire::Struct, Wire::None, Last, E::Use> {};
// args of a native kernel, and the places in it where handles stand (as offsets from args, parameter Args).
template <size_t Args, class N>
struct InPlaces : Role<Wire::Ints> {};

// --- Memory of the program that a transfer reads or writes: address, length, bytes on request ---
template <class N>
struct HostIn : Role<Wire::HostData, Wire::None, K::Unknown, E::Use> {};
template <class N>
struct HostOut : Role<Wire::HostData, Wire::Bytes, K::Unknown, E::UseDef> {};
// Read by a create call, when its flags (parameter Flags) ask for the host pointer.
template <class N, size_t Flags>
struct HostInit : Role<Wire::HostData, Wire::None, K::Unknown, E::Use> {};

// --- Written by the call. Only a successful call has outputs, apart from its error code. ---
struct ErrcodeRet : Role<Wire::Present, Wire::Ints> {};
struct OutScalar : Role<Wire::Present, Wire::Ints> {};
struct OutSizeRet : Role<Wire::Present, Wire::Ints> {};  // how much there is to know
template <class N, size_t Ret>
struct OutArray : Role<Wire::Present, Wire::Ints> {};  // N numbers; parameter Ret says how many there are
template <class N, size_t Ret>
struct OutBytes : Role<Wire::Present, Wire::Bytes> {};
template <K Kind, E Eff = E::Def>
struct OutHandle : Role<Wire::Present, Wire::Handles, Kind, Eff> {};
// Effect Use: the call only tells of objects that exist (clGetDeviceIDs); one seen for the first time is born there.
template <class N, size_t Ret, K Kind, E Eff = E::Use>
struct OutHandles : Role<Wire::Present, Wire::Handles, Kind, Eff> {};
constexpr size_t NoRet = static_cast<size_t>(-1);  // no parameter tells how many there are

// --- Queries: the meaning of the bytes depends on the value asked for (parameter Name) ---
template <uint64_t Value, K Kind>
struct HandlesWhen {};  // Value's answer holds handles (or addresses)
template <uint64_t Value>
struct ListWhen {};  // Value's answer is a property list
template <uint64_t Value>
struct OpaqueWhen {};  // Value's answer means nothing elsewhere
template <size_t Name, size_t Size, size_t Ret, class... When>
struct InfoOut : Role<Wire::Present, Wire::Info, K::Unknown, E::Use> {};
template <size_t Name, size_t Size, class... When>
struct InInfo : Role<Wire::Info, Wire::None, K::Unknown, E::Use> {};

// --- Return values ---
struct Nothing : Role<Wire::None, Wire::None> {};
struct Code : Role<Wire::None, Wire::Int> {};  // CL_SUCCESS or an error
struct Address : Role<Wire::None, Wire::Code> {};  // of an extension function
template <K Kind>
struct NewHandle : Role<Wire::None, Wire::Handle, Kind, E::Def> {};
template <K Kind, class N>
struct NewMemory : Role<Wire::None, Wire::HostData, Kind, E::Def> {};  // N bytes

// clang-format on

}  // namespace role

// One parameter of a function: its C type and its role.
template <class T, class R>
struct Param {
  using Type = T;
  using Role = R;
};
struct EndOfParams {};

// What a function does as a whole. Parameter indices are -1 when there is none.
struct Attributes {
  int8_t blocking = -1;      // the parameter that makes the call wait
  int8_t size = -1;          // the parameter with the bytes moved by a transfer, or made by a create call; a list: each
  int8_t region = -1;        // the parameter with width, height and depth of what a transfer moves...
  int8_t image = -1;         // ...in elements of this image; -1: in bytes
  int8_t whole = -1;         // objects (or memory) that a transfer moves whole, where `size` does not say how much
  int8_t flags = -1;         // the parameter with the flags that `direction` asks for
  int8_t pitches = -1;       // where a map call puts the row pitch; the slice pitch is next to it
  int8_t part = -1;          // a create call: the region of its parent that a sub-buffer is
  int8_t format = -1;        // a create call: the format of an image; its dimensions follow
  int8_t source = -1;        // a create call: the text of a program
  int8_t il = -1;            // a create call: a program in an intermediate language
  int8_t options = -1;       // a build call: its options
  int8_t headers = -1;       // a build call: the names by which its source includes the programs before this parameter
  int8_t replays = -1;       // runs the commands of this command buffer
  int8_t updates = -1;       // changes commands of the command buffer that comes first: the parameter that says which
  int8_t kernel_index = -1;  // binds a kernel argument: the parameter with its index...
  int8_t kernel_value = -1;  // ...and the one with its value (parameter 0 is the kernel)
  Transfer transfer = Transfer::None;  // the direction, or the usual one where `direction` is not Fixed
  DirectionRule direction = DirectionRule::Fixed;
  bool records = false;  // only adds a command to a command buffer: what it does happens when that is enqueued
  bool launch = false;   // runs a kernel (parameter 1)
  bool on_host = false;  // the memory that it allocates is the host's
  bool waits = false;   // returns only after commands have ended, whatever its arguments
  ObjectKind releases = ObjectKind::Unknown;  // drops a reference to parameter 0
  ObjectKind retains = ObjectKind::Unknown;   // adds a reference to parameter 0
  ObjectKind creates = ObjectKind::Unknown;   // returns a new object
  bool extension = false;  // reached through clGetExtensionFunctionAddress[ForPlatform] only
  uint8_t since = 0;       // 12: exported with symbol version OPENCL_1.2; 0: not exported
};

}  // namespace gt::api
