#include "microbench/remote/bandwidth_probe.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gt::bench {
namespace {

// Calls `move(offset, bytes)` for each transfer of the pattern; offsets wrap where the memory ends.
template <class Move>
Status for_each_transfer(Pattern pattern, uint64_t bytes, uint64_t capacity, Move move) {
  const uint64_t piece = pattern == Pattern::Unpipelined ? std::min(bytes, PieceBytes) : bytes;
  const uint64_t all = pattern == Pattern::Window ? bytes * window_of(bytes) : bytes;
  const uint64_t fits = capacity / piece;
  for (uint64_t i = 0; i < all / piece; ++i) GT_TRY(move(i % fits * piece, piece));
  return {};
}

class DeviceMover {
 public:
  DeviceMover(std::shared_ptr<Session> session, Mem buffer)
      : session_(std::move(session)), buffer_(std::move(buffer)) {}

  Status operator()(Way way, Pattern pattern, uint64_t bytes, std::span<uint8_t> memory) const {
    const bool blocking = pattern != Pattern::Window;
    const auto transfer = [&](uint64_t at, uint64_t size) {
      GT_TRY(one(way, blocking, at, size, memory.data() + at));
      return blocking ? session_->finish() : Status();  // a write that blocks need not be on the device
    };
    GT_TRY(for_each_transfer(pattern, bytes, memory.size(), transfer));
    return session_->finish();
  }

 private:
  Status one(Way way, bool blocking, uint64_t at, uint64_t size, uint8_t* memory) const {
    const cl_bool block = blocking ? CL_TRUE : CL_FALSE;
    if (way == Way::ToDevice)
      return cl_status("clEnqueueWriteBuffer", clEnqueueWriteBuffer(session_->queue(), buffer_.get(), block, at, size,
                                                                    memory, 0, nullptr, nullptr));
    return cl_status("clEnqueueReadBuffer", clEnqueueReadBuffer(session_->queue(), buffer_.get(), block, at, size,
                                                                memory, 0, nullptr, nullptr));
  }

  std::shared_ptr<Session> session_;
  std::shared_ptr<std::remove_pointer_t<cl_mem>> buffer_;
};

// The samples of one carrier in one way and pattern.
struct Sampled {
  size_t carrier = 0;
  Way way = Way::ToDevice;
  Pattern pattern = Pattern::Window;
  Series series;
};

TimesBySize medians(const Series& series) {
  std::map<uint64_t, std::vector<double>> by_size;
  for (const model::Knot& k : series.samples) by_size[static_cast<uint64_t>(k.size)].push_back(k.ns);
  TimesBySize out;
  for (auto& [bytes, ns] : by_size) out[bytes] = model::median_of(std::move(ns));
  return out;
}

}  // namespace

size_t window_of(uint64_t bytes) {
  return std::clamp<size_t>(static_cast<size_t>(MostWindowBytes / bytes), 2, MostWindowTransfers);
}

Result<Mover> device_mover(std::shared_ptr<Session> session, uint64_t capacity) {
  Result<Mem> buffer = session->buffer(capacity);
  if (!buffer) return buffer.status();
  return Mover(DeviceMover(std::move(session), std::move(*buffer)));
}

Mover socket_mover(BareSocket socket) {
  auto kept = std::make_shared<BareSocket>(std::move(socket));
  return [kept](Way way, Pattern pattern, uint64_t bytes, std::span<uint8_t> memory) {
    const uint64_t all = pattern == Pattern::Window ? bytes * window_of(bytes) : bytes;
    return kept->move(way == Way::ToDevice ? BareOperation::Take : BareOperation::Give, all, memory);
  };
}

Result<Mover> shared_memory_mover(uint64_t capacity) {
  void* const p = ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (p == MAP_FAILED) return system_error("shared memory", errno);
  const std::shared_ptr<uint8_t> shared(static_cast<uint8_t*>(p), [capacity](uint8_t* m) { ::munmap(m, capacity); });
  return Mover([shared](Way way, Pattern pattern, uint64_t bytes, std::span<uint8_t> memory) {
    return for_each_transfer(pattern, bytes, memory.size(), [&](uint64_t at, uint64_t size) {
      way == Way::ToDevice ? std::memcpy(shared.get() + at, memory.data() + at, size)
                           : std::memcpy(memory.data() + at, shared.get() + at, size);
      return Status();
    });
  });
}

Status check_contents(const Carrier& carrier, std::span<uint8_t> memory) {
  const auto value = [](size_t i) { return static_cast<uint8_t>(i * 31 + (i >> 8) * 7); };
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = value(i);
  GT_TRY(carrier.move(Way::ToDevice, Pattern::Single, memory.size(), memory));
  std::fill(memory.begin(), memory.end(), uint8_t{0});
  GT_TRY(carrier.move(Way::ToHost, Pattern::Single, memory.size(), memory));
  for (size_t i = 0; i < memory.size(); ++i)
    if (memory[i] != value(i)) return {Kind::OpenCl, carrier.name + ": other bytes came back than went there"};
  return {};
}

Result<std::vector<Times>> measure_bandwidth(const std::vector<Carrier>& carriers, const std::vector<uint64_t>& sizes,
                                             std::span<uint8_t> memory, const Pace& pace) {
  std::vector<Sampled> sampled;
  for (size_t c = 0; c < carriers.size(); ++c)
    for (const Way way : {Way::ToDevice, Way::ToHost})
      for (const Pattern pattern : {Pattern::Window, Pattern::Single, Pattern::Unpipelined})
        if (pattern != Pattern::Unpipelined || carriers[c].unpipelined) sampled.push_back({c, way, pattern, {}});
  uint64_t bytes = 0;
  const auto prepare = [&](uint64_t size) {
    bytes = size;
    return Status();
  };
  std::vector<Probe> probes;
  for (Sampled& s : sampled) {
    const auto turn = [&] {
      const bool same_as_single = s.pattern == Pattern::Unpipelined && bytes <= PieceBytes;
      if (same_as_single) return Status();
      const double start = now_ns();
      GT_TRY(carriers[s.carrier].move(s.way, s.pattern, bytes, memory));
      const double transfers = s.pattern == Pattern::Window ? static_cast<double>(window_of(bytes)) : 1;
      s.series.add(bytes, (now_ns() - start) / transfers);
      return Status();
    };
    probes.push_back({prepare, turn, {&s.series}});
  }
  std::vector<uint64_t> fit = sizes;
  std::erase_if(fit, [&](uint64_t size) { return size > memory.size(); });
  // What is used for the first time costs more: pages, a connection's window, threads.
  for (const Carrier& c : carriers)
    for (const Way way : {Way::ToDevice, Way::ToHost}) GT_TRY(c.move(way, Pattern::Single, memory.size(), memory));
  GT_TRY(sweep(probes, fit, pace));
  std::vector<Times> out(carriers.size());
  for (const Sampled& s : sampled)
    out[s.carrier][static_cast<size_t>(s.way)][static_cast<size_t>(s.pattern)] = medians(s.series);
  return out;
}

}  // namespace gt::bench
