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
  size_t size() const { return size_; }

  Value* find(uint64_t id) {
    if (id == 0 || size_ == 0) return nullptr;
    for (size_t i = home(id);; i = next(i)) {
      if (slots_[i].id == id) return &slots_[i].value;
      if (slots_[i].id == 0) return nullptr;
    }
  }
  // REQUIRES: id is not 0 and not there.
  Value& insert(uint64_t id, Value value) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    ++size_;
    return place(id, std::move(value));
  }
  void erase(uint64_t id) {
    if (!find(id)) return;
    size_t hole = home(id);
    while (slots_[hole].id != id) hole = next(hole);
    // What follows moves up, unless it would come before where it hashes to.
    for (size_t i = next(hole); slots_[i].id != 0; i = next(i)) {
      if (((i - home(slots_[i].id)) & mask()) < ((i - hole) & mask())) continue;
      slots_[hole] = std::move(slots_[i]);
      hole = i;
    }
    slots_[hole] = Slot();
    --size_;
  }
  template <class Visit>
  void each(Visit visit) {
    for (Slot& slot : slots_)
      if (slot.id) visit(slot.id, slot.value);
  }
  void clear() {
    slots_.clear();
    size_ = 0;
  }

 private:
  struct Slot {
    uint64_t id = 0;
    Value value{};
  };
  size_t mask() const { return slots_.size() - 1; }
  size_t next(size_t i) const { return (i + 1) & mask(); }
  size_t home(uint64_t id) const { return static_cast<size_t>((id * 0x9E3779B97F4A7C15u) >> 32) & mask(); }

  Value& place(uint64_t id, Value value) {
    size_t i = home(id);
    while (slots_[i].id != 0) i = next(i);
    slots_[i] = {id, std::move(value)};
    return slots_[i].value;
  }
  void grow() {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 64 : slots_.size() * 2));
    for (Slot& slot : old)
      if (slot.id) place(slot.id, std::move(slot.value));
  }

  std::vector<Slot> slots_;  // empty, or a power of two
  size_t size_ = 0;
};

}  // namespace gt::exec
