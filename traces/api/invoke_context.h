// What the making of an encoded call (invoke.h) works with: memory for its arguments, the meaning of its names.
// Thread safety: none; one context per thread.
#pragma once

#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

#include "traces/api/host_box.h"
#include "traces/api/roles.h"
#include "traces/api/wire.h"

namespace gt::api {

// Zeroed memory for one call's arrays, with a limit.
class Arena {
 public:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  explicit Arena(size_t limit = size_t{1} << 30) : limit_(limit) {}
  void* take(size_t bytes);  // 16-byte aligned; nullptr beyond the limit
  void clear();

 private:
  std::vector<std::unique_ptr<void, Free>> blocks_;
  size_t limit_, used_ = 0;
};

// What the names in an encoded call mean here. The default takes them as they are.
class ObjectMap {
 public:
  virtual ~ObjectMap() = default;
  virtual uint64_t object(ObjectKind, uint64_t name) {
    return name;
  }  // handles, and addresses in Svm and Mapping
  // Memory of this process that a call is to use itself (CL_MEM_USE_HOST_PTR); nullptr: it gets a copy.
  virtual void* memory(uint64_t /*address*/, uint64_t /*length*/) { return nullptr; }
  // Memory behind an address that was encoded with the length MapsMemory, for the bytes in `box`; nullptr: there is
  // none.
  virtual void* host(uint64_t /*address*/, const HostBox& /*box*/) { return nullptr; }
  virtual uint64_t code(uint64_t address) { return address; }  // functions of the program
  virtual uint64_t raw(uint64_t value) { return value; }       // user data, opaque pointers
};

// Bytes of the encoded inputs that stand in a rebuilt argument as they are.
struct PlacedBytes {
  size_t at = 0;  // in the inputs
  void* place = nullptr;
  size_t size = 0;
};

struct InvokeContext {
  Arena arena;
  ObjectMap* objects = nullptr;
  std::vector<PlacedBytes>* placed = nullptr;   // where elements of lists and byte strings go is noted there
  const std::deque<Bytes>* external = nullptr;  // bytes of External strings, each used once
  size_t next_external = 0;
};

enum class Invoked : uint8_t {
  Done,      // called; `outputs` has what encode_outputs<Contents::Full> gives
  Damaged,   // not a call of this function: not called
  TooLarge,  // needs more memory than the arena gives: not called
};

}  // namespace gt::api
