// What a random program does with shared virtual memory: copies between blocks and the program's own memory, fills,
// maps, migrations, launches on pointers (also ones that lie in such memory themselves), blocks that are freed.
//
// Coarse-grained: the program looks at a block only while it is mapped, and no command that touches the block runs
// then. Fine-grained: also without a map, when the commands that touch it have ended.
#pragma once

#include <atomic>

#include "tests/e2e/virtual/random_objects.h"

constexpr cl_map_flags MapFlags[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE,
                                     CL_MAP_WRITE_INVALIDATE_REGION};

class SharedSteps : protected Objects {
 protected:
  SharedSteps(const World& world, uint64_t seed) : Objects(world, seed) {
    scale_ = kernel("scale");
    link_ = kernel("link");
    reach_ = kernel("reach");
  }
  ~SharedSteps() {
    for (cl_kernel k : {scale_, link_, reach_}) CHECK(clReleaseKernel(k));
  }

  void shared_step() {
    switch (pick(13)) {
      case 0: return copy_shared();
      case 1: return copy_inside();
      case 2: return copy_in();
      case 3: return copy_out();
      case 4: return fill_shared();
      case 5: return map_shared();
      case 6: return read_maps_shared();
      case 7: return migrate_shared();
      case 8: return launch_on_pointer();
      case 9: return launch_on_table();
      case 10: return relay_shared();
      case 11:
        return touch_shared();
      default: return replace_shared();
    }
  }

  // Reads and writes what was mapped, as the flags allow.
  void use_mapped(uint8_t* p, size_t size, cl_map_flags flags) {
    if (flags & (CL_MAP_READ | CL_MAP_WRITE)) digest_.add(p, size);
    if (flags & CL_MAP_WRITE_INVALIDATE_REGION) {
      const std::vector<uint8_t> data = bytes(size);
      std::memcpy(p, data.data(), size);
    } else if (flags & CL_MAP_WRITE) {
      for (size_t i = pick(7); i < size; i += 1 + pick(500)) p[i] = static_cast<uint8_t>(p[i] * 5 + 1);
    }
  }
  // Given back without waiting for it: what was not invalidated is as it was.
  bool leaves_alone(cl_map_flags flags) { return !(flags & CL_MAP_WRITE_INVALIDATE_REGION) && chance(4); }

  void look_at_shared(Contents& c) {
    std::vector<uint8_t> out(c.bytes);
    if (chance(2)) {
      CHECK(clEnqueueSVMMemcpy(queues_[0], CL_TRUE, out.data(), c.shared, c.bytes, 0, nullptr, nullptr));
    } else {
      CHECK(clEnqueueSVMMap(queues_[0], CL_TRUE, CL_MAP_READ, c.shared, c.bytes, 0, nullptr, nullptr));
      std::memcpy(out.data(), c.shared, c.bytes);
      CHECK(clEnqueueSVMUnmap(queues_[0], c.shared, 0, nullptr, nullptr));
      CHECK(clFinish(queues_[0]));
    }
    digest_.add(out.data(), out.size());
  }
  // How many blocks functions of ours have freed.
  void count_freed() {
    const uint64_t n = freed_;
    digest_.add(&n, sizeof n);
  }

 private:
  struct Entry {
    uint8_t* at;
    cl_ulong count;
  };

  cl_event enqueue_copy(void* to, const void* from, size_t size, const std::vector<cl_event>& waits,
                        bool blocking = false) {
    if (blocking) open_gates();
    cl_event event;
    CHECK(clEnqueueSVMMemcpy(queue(), blocking, to, from, size, count(waits), list(waits), &event));
    return event;
  }

  void touch_shared() {
    Contents& c = some_shared();
    if (!c.fine) return;
    open_gates();
    const bool writes = chance(2);
    std::vector<cl_event> waits = c.writers;
    if (writes) waits.insert(waits.end(), c.readers.begin(), c.readers.end());
    if (!waits.empty()) CHECK(clWaitForEvents(count(waits), list(waits)));
    const size_t offset = pick(c.bytes), size = 1 + pick(c.bytes - offset);
    use_mapped(c.shared + offset, size, writes ? MapFlags[1 + pick(3)] : CL_MAP_READ);
  }

  void copy_shared() {
    Contents &a = some_shared(), &b = some_shared();
    if (&a == &b) return;
    const size_t size = 1 + pick(std::min(a.bytes, b.bytes));
    const size_t from = pick(a.bytes - size + 1), to = pick(b.bytes - size + 1);
    const auto waits = needs({&a}, {&b});
    did(enqueue_copy(b.shared + to, a.shared + from, size, waits, chance(4)), {&a}, {&b});
  }
  void copy_inside() {
    Contents& c = some_shared();
    const size_t size = 1 + pick(c.bytes / 2);
    const size_t low = pick(c.bytes - 2 * size + 1), high = low + size + pick(c.bytes - 2 * size - low + 1);
    const bool up = chance(2);
    const auto waits = needs({}, {&c});
    did(enqueue_copy(c.shared + (up ? high : low), c.shared + (up ? low : high), size, waits, chance(4)), {}, {&c});
  }
  void copy_in() {
    Contents& c = some_shared();
    const size_t offset = pick(c.bytes), size = 1 + pick(c.bytes - offset);
    const auto waits = needs({}, {&c});
    const bool blocking = chance(3);
    kept_.push_back(bytes(size));
    did(enqueue_copy(c.shared + offset, kept_.back().data(), size, waits, blocking), {}, {&c});
    if (blocking) std::memset(kept_.back().data(), 0, size);  // ours again
  }
  void copy_out() {
    Contents& c = some_shared();
    const size_t offset = pick(c.bytes), size = 1 + pick(c.bytes - offset);
    const auto waits = needs({&c}, {});
    const bool blocking = chance(3);
    auto* to = new std::vector<uint8_t>(size);
    const cl_event event = enqueue_copy(to->data(), c.shared + offset, size, waits, blocking);
    if (blocking) digest_.add(to->data(), size);
    did(event, {&c}, {});
    pending_.push_back({event, to});
  }
  void fill_shared() {
    Contents& c = some_shared();
    const size_t unit = std::min(size_t{1} << pick(8), c.alignment);
    const size_t units = c.bytes / unit, first = pick(units), n = 1 + pick(units - first);
    const std::vector<uint8_t> pattern = bytes(unit);
    const auto waits = needs({}, {&c});
    cl_event event;
    CHECK(clEnqueueSVMMemFill(queue(), c.shared + first * unit, pattern.data(), unit, n * unit, count(waits),
                              list(waits), &event));
    did(event, {}, {&c});
  }

  void map_shared() {
    Contents& c = some_shared();
    const size_t offset = pick(c.bytes), size = 1 + pick(c.bytes - offset);
    const cl_map_flags flags = MapFlags[pick(4)];
    const auto waits = needs({}, {&c});
    open_gates();
    const bool blocking = chance(2);
    uint8_t* const p = c.shared + offset;
    cl_event mapped, unmapped;
    CHECK(clEnqueueSVMMap(queue(), blocking, flags, p, size, count(waits), list(waits), &mapped));
    events_.push_back(mapped);
    if (blocking || !leaves_alone(flags)) {
      if (!blocking) CHECK(clWaitForEvents(1, &mapped));
      use_mapped(p, size, flags);
    }
    CHECK(clEnqueueSVMUnmap(queue(), p, 1, &mapped, &unmapped));
    did(unmapped, {}, {&c});
  }
  // Several at once, given back in another order and on other queues.
  void read_maps_shared() {
    Contents& c = some_shared();
    const auto waits = needs({&c}, {});
    open_gates();
    struct Map {
      uint8_t* at;
      cl_event event;
    };
    std::vector<Map> maps;
    for (size_t i = 0, n = 2 + pick(2); i < n; ++i) {
      const size_t offset = pick(c.bytes), size = 1 + pick(c.bytes - offset);
      cl_event event;
      CHECK(clEnqueueSVMMap(queue(), CL_TRUE, CL_MAP_READ, c.shared + offset, size, count(waits), list(waits),
                            &event));
      digest_.add(c.shared + offset, size);
      maps.push_back({c.shared + offset, event});
    }
    for (size_t i = maps.size(); i-- > 0;) {
      cl_event unmapped;
      CHECK(clEnqueueSVMUnmap(queue(), maps[i].at, 1, &maps[i].event, &unmapped));
      events_.push_back(maps[i].event);
      did(unmapped, {&c}, {});
    }
  }
  void migrate_shared() {
    std::vector<const void*> pointers;
    std::vector<size_t> sizes;
    std::vector<Contents*> moved;
    for (size_t i = 0, n = 1 + pick(3); i < n; ++i) {
      Contents& c = some_shared();
      const size_t offset = pick(c.bytes);
      pointers.push_back(c.shared + offset);
      sizes.push_back(pick(c.bytes - offset + 1));  // 0: all of it
      moved.push_back(&c);
    }
    const auto waits = needs(moved, {});
    const cl_mem_migration_flags flags = chance(2) ? CL_MIGRATE_MEM_OBJECT_HOST : 0;
    cl_event event;
    CHECK(clEnqueueSVMMigrateMem(queue(), static_cast<cl_uint>(pointers.size()), pointers.data(),
                                 chance(2) ? sizes.data() : nullptr, flags, count(waits), list(waits), &event));
    std::fill(pointers.begin(), pointers.end(), nullptr);  // ours again
    did(event, moved, {});
  }

  // Words of a block, from one of them on.
  Entry some_words(const Contents& c) {
    const size_t words = c.bytes / 4, first = pick(words);
    return {c.shared + first * 4, 1 + pick(words - first)};
  }
  void launch_on_pointer() {
    Contents& c = some_shared();
    const Entry words = some_words(c);
    const cl_uint by = word() | 1, plus = word();
    CHECK(clSetKernelArgSVMPointer(scale_, 0, words.at));
    set(scale_, 1, sizeof by, &by);
    set(scale_, 2, sizeof plus, &plus);
    const size_t global = words.count;
    launch(scale_, 1, &global, nullptr, {}, {&c});
  }

  // A kernel reaches blocks by pointers in another one, which the host or the device has written.
  void launch_on_table() {
    Contents table;
    std::vector<Contents*> reached;
    std::vector<const void*> pointers;
    std::vector<Entry> entries;
    for (Contents& c : all_) {
      if (!c.shared || chance(3)) continue;
      reached.push_back(&c);
      pointers.push_back(c.shared + pick(c.bytes));
      entries.push_back(some_words(c));
    }
    if (reached.empty()) return;
    const size_t skipped = pick(3);
    table.bytes = (skipped + entries.size()) * sizeof(Entry);
    table.shared = allocate(table.bytes, 0);
    uint8_t* const first = table.shared + skipped * sizeof(Entry);
    write_table(table, first, entries);
    const cl_uint n = static_cast<cl_uint>(entries.size()), plus = word();
    CHECK(clSetKernelArgSVMPointer(reach_, 0, first));
    set(reach_, 1, sizeof n, &n);
    set(reach_, 2, sizeof plus, &plus);
    CHECK(clSetKernelExecInfo(reach_, CL_KERNEL_EXEC_INFO_SVM_PTRS, pointers.size() * sizeof(void*), pointers.data()));
    const size_t global = 64;
    launch(reach_, 1, &global, nullptr, {&table}, reached);
    free_shared(table);
  }
  void write_table(Contents& table, uint8_t* first, const std::vector<Entry>& entries) {
    const size_t size = entries.size() * sizeof(Entry);
    if (chance(3)) {
      open_gates();
      CHECK(clEnqueueSVMMap(queues_[0], CL_TRUE, CL_MAP_WRITE, first, size, 0, nullptr, nullptr));
      std::memcpy(first, entries.data(), size);
      cl_event event;
      CHECK(clEnqueueSVMUnmap(queues_[0], first, 0, nullptr, &event));
      return did(event, {}, {&table});
    }
    if (chance(2)) {
      kept_.emplace_back(size);
      std::memcpy(kept_.back().data(), entries.data(), size);
      return did(enqueue_copy(first, kept_.back().data(), size, needs({}, {&table})), {}, {&table});
    }
    for (size_t i = 0; i < entries.size(); ++i) {
      const cl_uint index = static_cast<cl_uint>(i);
      CHECK(clSetKernelArgSVMPointer(link_, 0, first));
      set(link_, 1, sizeof index, &index);
      CHECK(clSetKernelArgSVMPointer(link_, 2, entries[i].at));
      set(link_, 3, sizeof entries[i].count, &entries[i].count);
      const size_t one = 1;
      launch(link_, 1, &one, nullptr, {}, {&table});
    }
  }

  // Out of one block into another by the program's memory, while nobody waits.
  void relay_shared() {
    Contents &a = some_shared(), &b = some_shared();
    if (&a == &b) return;
    const size_t size = 1 + pick(std::min(a.bytes, b.bytes));
    kept_.emplace_back(size);
    const void* by = kept_.back().data();
    cl_event there = enqueue_copy(kept_.back().data(), a.shared, size, needs({&a}, {}));
    did(there, {&a}, {});
    if (chance(2)) {  // from host to host
      kept_.emplace_back(size);
      there = enqueue_copy(kept_.back().data(), by, size, {there});
      events_.push_back(there);
      by = kept_.back().data();
    }
    auto waits = needs({}, {&b});
    waits.push_back(there);
    did(enqueue_copy(b.shared + (b.bytes - size), by, size, waits), {}, {&b});
  }

  static void CL_CALLBACK free_them(cl_command_queue, cl_uint n, void** pointers, void* data) {
    auto* const self = static_cast<SharedSteps*>(data);
    for (cl_uint i = 0; i < n; ++i) clSVMFree(self->world_.context, pointers[i]);
    self->freed_ += n;
  }
  // Nobody uses it any more but commands under way.
  void free_shared(Contents& c) {
    const auto waits = needs({}, {&c});
    const size_t how = pick(3);
    if (how == 0) {
      open_gates();
      if (!waits.empty()) CHECK(clWaitForEvents(count(waits), list(waits)));
      return clSVMFree(world_.context, c.shared);
    }
    void* pointers[] = {c.shared};
    cl_event event;
    CHECK(clEnqueueSVMFree(queue(), 1, pointers, how == 1 ? free_them : nullptr, this, count(waits), list(waits),
                           &event));
    pointers[0] = nullptr;  // ours again
    events_.push_back(event);
  }
  void replace_shared() {
    Contents& old = some_shared();
    const auto place = static_cast<size_t>(&old - all_.data());
    release(old);
    free_shared(old);
    open_gates();
    make_shared();
    all_[place] = std::move(all_.back());
    all_.pop_back();
  }

  cl_kernel scale_, link_, reach_;
  std::atomic<uint64_t> freed_{0};
};
