// The memory of a kernel, as the analysis of SPIR-V sees it: objects, and the addresses that lie in them.
//
// Objects are the memory behind each parameter and behind each address inside a parameter that is passed by value, all
// memory that is not known (Unknown), variables that outlive the launch (Static), and the variables of the functions
// that run. Only the last are *followed*: their bytes are, each address where it lies, whatever type it was stored
// with. What all others hold is not: an address loaded from there is Unknown. So is one that is loaded where numbers
// were stored. Sets only grow; `changed` says whether one has since it was last cleared.
// Thread safety: none.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "traces/kernels/spirv_types.h"

namespace gt::spirv {

using ObjectId = uint32_t;
constexpr ObjectId UnknownMemory = 0, StaticMemory = 1, FirstParameter = 2;
constexpr uint32_t Anywhere = 0xffffffff;

// An address, and where it lies in the value that has it (a structure). Of what is not followed, offsets are 0.
struct Cell {
  ObjectId object = UnknownMemory;
  uint32_t offset = 0;
  uint32_t at = 0;
  auto operator<=>(const Cell&) const = default;
};

// What a value may point to. Beyond MostCells places no longer count, objects do.
class Cells {
 public:
  bool add(Cell c);  // true: it is new
  bool add(const Cells& more);
  auto begin() const { return sorted_.begin(); }
  auto end() const { return sorted_.end(); }
  bool empty() const { return sorted_.empty(); }
  size_t size() const { return sorted_.size(); }
  bool operator==(const Cells&) const = default;
  auto operator<=>(const Cells&) const = default;

 private:
  static constexpr size_t MostCells = 64;
  void widen();
  std::vector<Cell> sorted_;
};

class Memory {
 public:
  explicit Memory(const Types& types) : types_(types), objects_(FirstParameter) {}

  ObjectId add(bool followed, uint64_t size);
  bool is_followed(ObjectId id) const { return objects_[id].followed; }
  bool escapes(ObjectId id) const { return objects_[id].exposed; }
  // `delta` bytes on; Anywhere beyond its end.
  Cell moved(Cell c, int64_t delta) const;
  // Where `c` may be after any number of steps of `stride` bytes; 0: there.
  std::vector<Cell> elements(Cell c, uint64_t stride) const;

  Cells load(const Cells& from, Id type) const;
  // Is what lies there addresses as they were stored, whole, and nothing else?
  bool has_only_addresses(const Cells& at) const;
  // `constant`: numbers in the value are no addresses.
  void store(const Cells& to, const Cells& value, Id type, bool constant);
  void copy(const Cells& to, const Cells& from, uint64_t bytes);
  // Bytes that nobody follows come there.
  void put_numbers(const Cells& to, uint64_t bytes);
  // Whoever knows one of these may put any address there, and into what it leads to.
  void expose(const Cells& known);
  // The objects that these lead to, over any number of addresses.
  std::vector<ObjectId> reachable(const Cells& from) const;

  bool changed = false;
  // Addresses that were looked at, for whoever has a limit.
  uint64_t work() const { return work_; }

 private:
  static constexpr size_t MostRanges = 32, MostSlots = 256, MostElements = 32;
  struct Object {
    bool followed = false, exposed = false;
    uint64_t size = UnknownSize;
    std::map<uint32_t, Cells> slots;       // by place; Anywhere: at any
    std::map<uint64_t, uint64_t> numbers;  // where they were stored: begin, end
  };
  void put(Object& object, uint32_t place, Cell value);
  void add_numbers(Object& object, uint64_t begin, uint64_t end);
  static bool has_numbers(const Object& object, uint64_t begin, uint64_t end);
  void load_from(const Object& object, const Cell& from, Id type, const std::vector<Leaf>& leaves, Cells& out) const;
  void copy_from(Cell from, const Cells& to, uint64_t bytes);

  const Types& types_;
  mutable uint64_t work_ = 0;
  std::vector<Object> objects_;
};

}  // namespace gt::spirv
