// The memory that both ends of a link inside a node map: four rings, their bells, and a sign of life of each side.
// Made by the server, sealed so that it cannot shrink under the other. Layout: docs/links.md.
// Thread safety: values; what is inside says its own.
#pragma once

#include <memory>

#include "traces/base/fd.h"
#include "transport/link/node/ring.h"

namespace gt::wire {

struct SideShown {
  alignas(64) std::atomic<uint64_t> beat{0};  // moves once a heartbeat
  alignas(64) Bell control;                   // rung for this side
  alignas(64) Bell data;
};

constexpr int ServerSide = 0, ClientSide = 1;

struct RegionHead {
  uint64_t magic = 0;
  uint32_t version = 0, zero = 0;
  SideShown sides[2];
  RingShown control[2], data[2];  // of the side that produces
};

constexpr size_t ControlRing = size_t{256} << 10, DataRing = size_t{1} << 20;
constexpr size_t RegionHeadBytes = 4096, RegionBytes = RegionHeadBytes + 2 * ControlRing + 2 * DataRing;
static_assert(sizeof(RegionHead) <= RegionHeadBytes);

class ShmRegion {
 public:
  static Result<std::shared_ptr<ShmRegion>> make(Fd& memory);
  // What a peer gave: checked.
  static Result<std::shared_ptr<ShmRegion>> map(int memory);
  ~ShmRegion();
  ShmRegion(const ShmRegion&) = delete;
  ShmRegion& operator=(const ShmRegion&) = delete;

  SideShown& shown(int side) { return head().sides[side]; }
  // What a side writes, and what it reads.
  RingWriter control_out(int side) { return {head().control[side], control(side), ControlRing}; }
  RingReader control_in(int side) { return {head().control[1 - side], control(1 - side), ControlRing}; }
  RingWriter data_out(int side) { return {head().data[side], data(side), DataRing}; }
  RingReader data_in(int side) { return {head().data[1 - side], data(1 - side), DataRing}; }

 private:
  RegionHead& head() { return *reinterpret_cast<RegionHead*>(base_); }
  uint8_t* control(int side) { return base_ + RegionHeadBytes + side * ControlRing; }
  uint8_t* data(int side) { return base_ + RegionHeadBytes + 2 * ControlRing + side * DataRing; }

  explicit ShmRegion(uint8_t* base) : base_(base) {}
  uint8_t* const base_;
};

// Zeroed shared memory that cannot shrink any more.
Result<Fd> make_shared_memory(size_t bytes);
// Nobody can make it shorter than `bytes`, and touching it never fails for want of a page of a special kind.
Status check_shared_memory(int memory, uint64_t bytes);

}  // namespace gt::wire
