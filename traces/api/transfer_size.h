// What a call moves: which way, how many bytes. And what a create call makes, which later calls move.
//
// From the attributes of the function (roles.h) and the decoded arguments alone, with what the caller knows of the
// objects that they name. This is the one place that says so: statistics, device times and the analysis of transfers
// all follow from it (as Shape::moves).
//
//   clEnqueueReadImage(..., region = {64, 32, 1}, ...) of an RGBA float image   device to host, 64 * 32 * 16 bytes
//   clEnqueueMapBuffer(..., CL_MAP_WRITE_INVALIDATE_REGION, ...)   nothing: the old contents are not wanted
//   clEnqueueUnmapMemObject of that mapping                        host to device, the bytes mapped
//
// Bytes are those of the data, without the padding that pitches make. 0: not known (images of other APIs).
// Thread safety: no state.
#pragma once

#include <span>

#include "traces/api/decode.h"

namespace gt::api {

// A memory object, or an allocation.
struct MemoryFacts {
  uint64_t bytes = 0;
  uint64_t element_bytes = 0;  // of images
  bool on_host = false;        // OpenCL's memory, but the host's (clHostMemAllocINTEL)
  bool lines = false;          // an array of one-dimensional images: each is a slice
};

// What was mapped at an address.
struct Mapped {
  uint64_t bytes = 0;
  uint64_t flags = 0;
};

// What the reader of the calls has seen before this one.
class KnownObjects {
 public:
  virtual ~KnownObjects() = default;
  virtual MemoryFacts memory_object(uint64_t handle) const = 0;
  // Memory that OpenCL allocated, by an address in it; 0 bytes when there is none.
  virtual MemoryFacts allocation(uint64_t address) const = 0;
  virtual Mapped mapping(uint64_t address) const = 0;
};

struct TransferSize {
  Transfer direction = Transfer::None;
  uint64_t bytes = 0;
};

using Inputs = std::span<const DecodedArg>;

// Also of calls that only record a command: what it will move. `inputs` as decode_inputs gives them.
TransferSize transfer_size_of(uint16_t fn, Inputs inputs, const KnownObjects& known);

// The memory object that a create call makes when it succeeds.
struct CreatedMemory {
  MemoryFacts facts;
  uint64_t parent = 0;    // handle of the memory object that it shares memory with; 0: none
  uint64_t in_place = 0;  // address of the host memory that it uses instead of its own; 0: none
};
CreatedMemory created_memory(uint16_t fn, Inputs inputs);

// What a map call maps, for its unmap; `outputs` have the pitches of an image. `extent`: bytes from the pointer on.
struct NewMapping {
  Mapped mapped;
  uint64_t extent = 0;
};
NewMapping new_mapping(uint16_t fn, Inputs inputs, Inputs outputs, const KnownObjects& known);

// The elements of parameter `param`; none when there is no such argument.
Inputs elements_of(Inputs args, int param);
// Its first number; 0 when there is none.
uint64_t number_of(Inputs args, int param);

}  // namespace gt::api
