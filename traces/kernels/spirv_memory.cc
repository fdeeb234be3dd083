// Loading, storing, and losing sight.
#include "traces/kernels/spirv_memory.h"

#include <algorithm>
#include <iterator>

namespace gt::spirv {
namespace {

constexpr uint64_t AddressBytes = 8;  // of a slot: as wide as an address may be

uint64_t end_of(uint64_t begin, uint64_t bytes) {
  return bytes == UnknownSize || begin + bytes < begin ? UnknownSize : begin + bytes;
}

bool is_whole(const Type* t) {
  return t && t->form != Type::Form::Struct && t->form != Type::Form::Array && t->form != Type::Form::Vector;
}

}  // namespace

bool Cells::add(Cell c) {
  const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), c);
  if (at != sorted_.end() && *at == c) return false;
  const Cell wide{c.object, Anywhere, Anywhere};
  if (std::binary_search(sorted_.begin(), sorted_.end(), wide)) return false;
  sorted_.insert(at, c);
  if (sorted_.size() > MostCells) widen();
  return true;
}

bool Cells::add(const Cells& more) {
  if (std::includes(sorted_.begin(), sorted_.end(), more.begin(), more.end())) return false;
  bool grown = false;
  for (const Cell& c : more) grown |= add(c);
  return grown;
}

void Cells::widen() {
  for (Cell& c : sorted_) c.offset = c.at = Anywhere;
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
}

ObjectId Memory::add(bool followed, uint64_t size) {
  objects_.emplace_back();
  objects_.back().followed = followed;
  objects_.back().size = size;
  return static_cast<ObjectId>(objects_.size() - 1);
}

Cell Memory::moved(Cell c, int64_t delta) const {
  const Object& object = objects_[c.object];
  if (!object.followed) return {c.object, 0, c.at};
  if (c.offset == Anywhere) return c;
  const int64_t to = c.offset + delta;
  const bool inside = to >= 0 && to < int64_t{Anywhere} && static_cast<uint64_t>(to) <= object.size;
  return {c.object, inside ? static_cast<uint32_t>(to) : Anywhere, c.at};
}

std::vector<Cell> Memory::elements(Cell c, uint64_t stride) const {
  const Object& object = objects_[c.object];
  if (stride == 0 || !object.followed || c.offset == Anywhere) return {c};
  if (object.size == UnknownSize || object.size / stride > MostElements) return {{c.object, Anywhere, c.at}};
  std::vector<Cell> out;
  for (uint64_t at = c.offset % stride; at < object.size; at += stride)
    out.push_back({c.object, static_cast<uint32_t>(at), c.at});
  return out;
}

void Memory::put(Object& object, uint32_t place, Cell value) {
  if (object.slots.size() >= MostSlots && !object.slots.contains(place)) place = Anywhere;
  value.at = 0;
  ++work_;
  changed |= object.slots[place].add(value);
}

void Memory::add_numbers(Object& object, uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  auto at = object.numbers.upper_bound(begin);
  if (at != object.numbers.begin() && std::prev(at)->second >= begin) --at;
  if (at != object.numbers.end() && at->first <= begin && at->second >= end) return;
  changed = true;
  while (at != object.numbers.end() && at->first <= end) {
    begin = std::min(begin, at->first);
    end = std::max(end, at->second);
    at = object.numbers.erase(at);
  }
  object.numbers[begin] = end;
  if (object.numbers.size() > MostRanges) object.numbers = {{0, UnknownSize}};
}

bool Memory::has_numbers(const Object& object, uint64_t begin, uint64_t end) {
  return std::any_of(object.numbers.begin(), object.numbers.end(),
                     [&](const auto& r) { return r.first < end && r.second > begin; });
}

void Memory::load_from(const Object& object, const Cell& from, Id type, const std::vector<Leaf>& leaves,
                       Cells& out) const {
  const uint64_t size = types_.size_of(type);
  const bool whole = is_whole(types_.find(type));
  const auto take = [&](const Cells& held, uint32_t at) {
    work_ += held.size();
    for (Cell c : held) {
      c.at = whole ? 0 : at;
      out.add(c);
    }
  };
  const uint64_t begin = from.offset == Anywhere ? 0 : from.offset;
  const uint64_t end = from.offset == Anywhere ? UnknownSize : end_of(begin, size);
  for (const auto& [place, held] : object.slots) {
    const bool lost = place == Anywhere || from.offset == Anywhere;
    if (!lost && (place >= end || place + AddressBytes <= begin)) continue;
    take(held, lost || place < begin ? Anywhere : static_cast<uint32_t>(place - begin));
  }
  if (!types_.holds(type)) return;
  for (const Leaf& leaf : leaves) {
    if (!leaf.address) continue;
    const uint64_t first = begin + leaf.at, last = from.offset == Anywhere ? UnknownSize : end_of(first, leaf.size);
    const bool found = object.exposed || has_numbers(object, from.offset == Anywhere ? 0 : first, last);
    if (found) out.add({UnknownMemory, 0, whole ? 0 : static_cast<uint32_t>(leaf.number ? Anywhere : leaf.at)});
  }
}

Cells Memory::load(const Cells& from, Id type) const {
  Cells out;
  if (from.empty()) return out;
  const std::vector<Leaf> leaves = types_.holds(type) ? types_.leaves(type) : std::vector<Leaf>();
  for (const Cell& c : from) {
    const Object& object = objects_[c.object];
    if (object.followed)
      load_from(object, c, type, leaves, out);
    else if (types_.holds(type))
      out.add({UnknownMemory, 0, is_whole(types_.find(type)) ? 0 : Anywhere});
  }
  return out;
}

bool Memory::has_only_addresses(const Cells& at) const {
  const uint64_t bytes = types_.address_bytes();
  return std::all_of(at.begin(), at.end(), [&](const Cell& c) {
    const Object& object = objects_[c.object];
    if (!object.followed || object.exposed || c.offset == Anywhere) return false;
    if (has_numbers(object, c.offset, c.offset + bytes)) return false;
    return std::all_of(object.slots.begin(), object.slots.end(), [&](const auto& slot) {
      const uint64_t place = slot.first;
      return place == c.offset || (place != Anywhere && (place >= c.offset + bytes || place + bytes <= c.offset));
    });
  });
}

void Memory::store(const Cells& to, const Cells& value, Id type, bool constant) {
  const std::vector<Leaf> leaves = constant ? std::vector<Leaf>() : types_.leaves(type);
  for (const Cell& place : to) {
    if (!objects_[place.object].followed) {
      expose(value);
      continue;
    }
    Object& object = objects_[place.object];
    for (const Cell& c : value) {
      const bool lost = place.offset == Anywhere || c.at == Anywhere;
      put(object, lost ? Anywhere : moved(place, c.at).offset, c);
    }
    for (const Leaf& leaf : leaves) {
      if (!leaf.number) continue;
      const uint64_t begin = place.offset == Anywhere ? 0 : place.offset + leaf.at;
      add_numbers(object, begin, place.offset == Anywhere ? UnknownSize : end_of(begin, leaf.size));
    }
  }
}

void Memory::put_numbers(const Cells& to, uint64_t bytes) {
  for (const Cell& c : to) {
    if (!objects_[c.object].followed) continue;
    const bool lost = c.offset == Anywhere;
    add_numbers(objects_[c.object], lost ? 0 : c.offset, lost ? UnknownSize : end_of(c.offset, bytes));
  }
}

void Memory::copy(const Cells& to, const Cells& from, uint64_t bytes) {
  for (const Cell& c : from) {
    if (objects_[c.object].followed)
      copy_from(c, to, bytes);
    else
      put_numbers(to, bytes);
  }
}

void Memory::copy_from(Cell from, const Cells& to, uint64_t bytes) {
  const Object source = objects_[from.object];  // which may be where it goes to
  work_ += source.slots.size() * to.size();
  const bool lost = from.offset == Anywhere;
  const uint64_t begin = lost ? 0 : from.offset, end = lost ? UnknownSize : end_of(begin, bytes);
  if (source.exposed) put_numbers(to, bytes);
  for (const auto& [place, held] : source.slots) {
    if (place != Anywhere && (place >= end || place + AddressBytes <= begin)) continue;
    for (const Cell& target : to) {
      if (!objects_[target.object].followed) {
        expose(held);
        continue;
      }
      const bool known = place != Anywhere && !lost && target.offset != Anywhere;
      const int64_t shift = int64_t{place} - static_cast<int64_t>(begin);
      for (const Cell& c : held) put(objects_[target.object], known ? moved(target, shift).offset : Anywhere, c);
    }
  }
  for (const auto& [first, last] : source.numbers) {
    if (first >= end || last <= begin) continue;
    for (const Cell& target : to) {
      if (!objects_[target.object].followed) continue;
      const bool known = !lost && target.offset != Anywhere;
      const uint64_t at = known ? target.offset + (std::max(first, begin) - begin) : 0;
      const uint64_t part =
          std::min(last, end) == UnknownSize ? UnknownSize : std::min(last, end) - std::max(first, begin);
      add_numbers(objects_[target.object], at, known ? end_of(at, part) : UnknownSize);
    }
  }
}

std::vector<ObjectId> Memory::reachable(const Cells& from) const {
  std::vector<ObjectId> found, next;
  for (const Cell& c : from) next.push_back(c.object);
  std::vector<bool> seen(objects_.size());
  work_ += objects_.size() / 64;
  while (!next.empty()) {
    const ObjectId id = next.back();
    next.pop_back();
    if (seen[id]) continue;
    seen[id] = true;
    found.push_back(id);
    for (const auto& [place, held] : objects_[id].slots) {
      work_ += held.size();
      for (const Cell& c : held) next.push_back(c.object);
    }
  }
  return found;
}

void Memory::expose(const Cells& known) {
  if (known.empty()) return;
  for (const ObjectId id : reachable(known)) {
    if (id < FirstParameter || objects_[id].exposed) continue;
    objects_[id].exposed = changed = true;
  }
}

}  // namespace gt::spirv
