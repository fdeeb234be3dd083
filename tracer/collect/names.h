// Names for what a program handles: (class, slot) instead of addresses and handles. See event.h.
//
// Names spans all processes of a run; Objects are the live handles and memory of one process.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tracer/collect/address_map.h"
#include "tracer/collect/block_table.h"
#include "tracer/collect/interning.h"
#include "tracer/collect/module_map.h"
#include "tracer/collect/object_ref.h"
#include "tracer/collect/slot_set.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

struct HashClass {
  size_t operator()(const model::Class& c) const {
    uint64_t h = static_cast<uint64_t>(c.kind);
    h = mix(mix(h, c.thread), c.site);
    return mix(mix(h, c.fn), c.label);
  }
};

class Names {
 public:
  explicit Names(std::vector<model::Class>& classes) : classes_(&classes), intern_(classes) {}

  model::ClassId class_of(const model::Class& c) {
    return intern_(c, [this] { slots_.emplace_back(); });
  }
  ObjectRef create(model::ClassId cls) { return {cls, slots_[cls].take()}; }
  // A slot that another thread than its class's gives back is not given again: when that happens among the creations
  // of its own thread depends on who runs first, and names must not. (Its number costs one bit from then on.)
  void release(ObjectRef object, model::ThreadId by) {
    const model::ThreadId owner = (*classes_)[object.cls].thread;
    if (owner == by || owner == model::NoIndex) slots_[object.cls].give_back(object.slot);
  }
  // A name that will not be given again. Such names of a class are never released.
  ObjectRef create_once(model::ClassId cls) { return {cls, next_[cls]++}; }
  model::ObjectKind kind(ObjectRef object) const { return (*classes_)[object.cls].kind; }

 private:
  std::vector<model::Class>* classes_;
  Interning<model::Class, HashClass> intern_;
  std::vector<SlotSet> slots_;
  std::unordered_map<model::ClassId, uint32_t> next_;
};

// A live handle. `references` counts what the program holds: created 1, retained +1, released -1.
struct Handle {
  ObjectRef object;
  uint32_t references = 1;
  uint32_t device =
      model::NoIndex;  // queues: index of their device's DeviceTime. Devices: the same
  uint32_t timed = model::NoIndex, timed_context = model::NoIndex;  // queues: numbers in TimedObjects
  uint32_t program = model::NoIndex;  // programs and kernels: index into the collector's programs
};

// Live host memory: [base, base + size). Svm and Mapping objects are memory, too.
struct Memory {
  ObjectRef object;
  uint64_t size = 0;
  uint64_t offset = 0;  // of `base` in the object: a mapping may lose its first pages
  uint32_t maps = 1;     // Mapping: how often it is mapped now
  bool svm = false;      // OpenCL allocated it
  bool on_host = false;  // svm: in the host's memory
};

struct Place {
  ObjectRef object;
  uint64_t offset = 0;
  bool found = false;
};

class Objects {
 public:
  AddressMap<Handle> handles;

  // Memory of any kind. REQUIRES, of both: no memory that is known begins there.
  void add_memory(uint64_t base, uint64_t size, ObjectRef object);
  // A block of the heap. REQUIRES: base != 0.
  void add_block(uint64_t base, uint64_t size, ObjectRef object) {
    if (BlockTable::holds(base, size)) {
      blocks_.add(base, size, object);
    } else {
      add_memory(base, size, object);
    }
  }
  // Where a block of the heap is told; object.known(): one is there, which its maker forgets. nullptr: not so simple.
  BlockTable::Block* place_for_block(uint64_t base, uint64_t size) {
    return BlockTable::holds(base, size) && !memory_.find(base) ? &blocks_.place_of(base) : nullptr;
  }
  void prefetch_block(uint64_t base) { blocks_.prefetch(base); }
  // The memory that begins at `base`, taken out; found == false: none. `size`, if given: how large it was.
  Place take_memory(uint64_t base, uint64_t* size);
  // The same, if wanted(place) says so. False: there is none, or it does not.
  template <class Wanted>
  bool take_memory_if(uint64_t base, Wanted&& wanted) {
    BlockTable::Block* const block = blocks_.find(base);
    if (!block) {
      const Place place = longer_memory_from(base);
      return place.found && wanted(place) && take_longer_memory(base, nullptr).found;
    }
    if (!wanted(Place{block->object, 0, true})) return false;
    BlockTable::remove(*block);
    return true;
  }
  // Takes [base, base + size) out of whatever live memory lies there; what no longer has any is appended to `ended`.
  // Pages only: blocks below Large are left alone.
  void unmap(uint64_t base, uint64_t size, std::vector<ObjectRef>& ended);
  // What is no block of the heap, or a large one.
  Memory* memory_at(uint64_t base) { return memory_.find(base); }
  Memory* memory_around(uint64_t address, uint64_t* base = nullptr);
  // The live memory that holds `address`.
  Place find_memory(uint64_t address);

 private:
  // Interior pointers are looked up rarely, so only large blocks are kept in order; small ones are
  // found by trying each possible base below the address (blocks begin at multiples of 16), where
  // there ever was a small block: static data and stacks mostly lie elsewhere.
  static constexpr uint64_t Large = 4096;
  void note_extent(uint64_t base, uint64_t size);
  Place longer_memory_from(uint64_t base);
  Place take_longer_memory(uint64_t base, uint64_t* size);
  BlockTable blocks_;
  AddressMap<Memory> memory_;  // what is not in blocks_
  std::map<uint64_t, uint64_t> large_;  // base -> size
  uint64_t lowest_small_ = ~uint64_t{0}, highest_small_ = 0;  // bases, of all times
  std::map<std::pair<model::ClassId, uint32_t>, uint32_t> more_pieces_;  // of objects with a hole: pieces less one
};

}  // namespace gt::tracer
