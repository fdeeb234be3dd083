// Names to values: a table with open addressing, where finding costs a multiplication and mostly one cache line.
// Invariant: no empty slot lies between a value and where its name hashes to. Name 0 is an empty slot.
// Thread safety: none. Pointers to values hold until the next insert or erase.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace gt::exec {

template <class Value>
class IdMap {
 public:
  size_t size() const { return x_size; }

  Value* find(uint64_t id) {
    if (id == 0 || x_size == 0) return nullptr;
    for (size_t i = home(id);; i = next(i)) {
      if (x_slots[i].id == id) return &x_slots[i].value;
      if (x_slots[i].id == 0) return nullptr;
    }
  }
  // REQUIRES: id is not 0 and not there.
  Value& insert(uint64_t id, Value value) {
    if ((x_size + 1) * 2 > x_slots.size()) grow();
    ++x_size;
    return place(id, std::move(value));
  }
  void erase(uint64_t id) {
    if (!find(id)) return;
    size_t hole = home(id);
    while (x_slots[hole].id != id) hole = next(hole);
    // What follows moves up, unless it would come before where it hashes to.
    for (size_t i = next(hole); x_slots[i].id != 0; i = next(i)) {
      if (((i - home(x_slots[i].id)) & mask()) < ((i - hole) & mask())) continue;
      x_slots[hole] = std::move(x_slots[i]);
      hole = i;
    }
    x_slots[hole] = Slot();
    --x_size;
  }
  template <class Visit>
  void each(Visit visit) {
    for (Slot& slot : x_slots)
      if (slot.id) visit(slot.id, slot.value);
  }
  void clear() {
    x_slots.clear();
    x_size = 0;
  }

 private:
  struct Slot {
    uint64_t id = 0;
    Value value{};
  };
  size_t mask() const { return x_slots.size() - 1; }
  size_t next(size_t i) const { return (i + 1) & mask(); }
  size_t home(uint64_t id) const { return static_cast<size_t>((id * 0x9E3779B97F4A7C15u) >> 32) & mask(); }

  Value& place(uint64_t id, Value value) {
    size_t i = home(id);
    while (x_slots[i].id != 0) i = next(i);
    x_slots[i] = {id, std::move(value)};
    return x_slots[i].value;
  }
  void grow() {
    std::vector<Slot> old = std::exchange(x_slots, std::vector<Slot>(x_slots.empty() ? 64 : x_slots.size() * 2));
    for (Slot& slot : old)
      if (slot.id) place(slot.id, std::move(slot.value));
  }

  std::vector<Slot> x_slots;  // empty, or a power of two
  size_t x_size = 0;
};

}  // namespace gt::exec
