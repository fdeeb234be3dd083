#include "transport/moves/peer_trial.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace gt::moves {
namespace {

constexpr size_t Sizes[] = {size_t{64} << 10, size_t{1} << 20, size_t{16} << 20};
constexpr size_t Largest = Sizes[std::size(Sizes) - 1];
constexpr size_t Rounds = 5;

// Contents at one end, looked for at the other.
class Contents {
 public:
  Contents(const MoveEnd& from, const MoveEnd& to) : ends_{from, to}, put_(Largest / sizeof(uint32_t)), seen_(put_) {
    for (int i = 0; i < 2; ++i) {
      const MoveEnd& end = ends_[i];
      cl_int code = CL_SUCCESS;
      queues_[i] = end.cl.clCreateCommandQueue(end.context, end.device, 0, &code);
      if (code != CL_SUCCESS) queues_[i] = nullptr;
      mems_[i] = end.cl.clCreateBuffer(end.context, CL_MEM_READ_WRITE, Largest, nullptr, &code);
      if (code != CL_SUCCESS) mems_[i] = nullptr;
    }
  }
  ~Contents() {
    for (int i = 0; i < 2; ++i) {
      if (mems_[i]) ends_[i].cl.clReleaseMemObject(mems_[i]);
      if (queues_[i]) ends_[i].cl.clReleaseCommandQueue(queues_[i]);
    }
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  bool good() const { return queues_[0] && queues_[1] && mems_[0] && mems_[1]; }
  cl_mem from() const { return mems_[0]; }
  cl_mem to() const { return mems_[1]; }
  // Others each time, so that none are there from before.
  bool put(size_t bytes) {
    state_ = state_ * 1664525u + 1013904223u;
    for (uint32_t i = 0; i < bytes / sizeof(uint32_t); ++i) put_[i] = state_ + i * 2654435761u;  // many at once
    const ClFunctions& cl = ends_[0].cl;
    return cl.clEnqueueWriteBuffer(queues_[0], mems_[0], CL_TRUE, 0, bytes, put_.data(), 0, nullptr, nullptr) ==
           CL_SUCCESS;
  }
  bool arrived(size_t bytes) {
    const ClFunctions& cl = ends_[1].cl;
    return cl.clEnqueueReadBuffer(queues_[1], mems_[1], CL_TRUE, 0, bytes, seen_.data(), 0, nullptr, nullptr) ==
               CL_SUCCESS &&
           std::memcmp(seen_.data(), put_.data(), bytes) == 0;
  }

 private:
  const MoveEnd ends_[2];
  cl_command_queue queues_[2] = {};
  cl_mem mems_[2] = {};
  uint32_t state_ = 1;
  std::vector<uint32_t> put_, seen_;
};

// Nanoseconds; nothing when what arrived is not what was there.
std::optional<double> time(Contents& contents, const TriedMove& move, size_t bytes) {
  if (!contents.put(bytes)) return {};
  const std::optional<double> took = move(contents.from(), contents.to(), bytes);
  return took && contents.arrived(bytes) ? took : std::nullopt;
}

double median(std::array<double, Rounds>& times) {
  std::nth_element(times.begin(), times.begin() + Rounds / 2, times.end());
  return times[Rounds / 2];
}

}  // namespace

PeerVerdict try_peer(const MoveEnd& from, const MoveEnd& to, const TriedMove& peer, const TriedMove& pinned,
                     const std::function<bool()>& stop) {
  Contents contents(from, to);
  if (!contents.good()) return {};
  std::array<double, std::size(Sizes)> by_peer{}, by_pinned{};
  for (size_t s = 0; s < std::size(Sizes); ++s) {
    std::array<double, Rounds> peers{}, others{};
    for (size_t i = 0; i < Rounds; ++i) {
      if (stop()) return {};
      const std::optional<double> a = time(contents, peer, Sizes[s]), b = time(contents, pinned, Sizes[s]);
      if (!a || !b) return {};
      peers[i] = *a;
      others[i] = *b;
    }
    by_peer[s] = median(peers);
    by_pinned[s] = median(others);
  }
  PeerVerdict verdict;
  verdict.right = true;
  for (size_t s = std::size(Sizes); s-- > 0 && by_peer[s] < by_pinned[s];) verdict.least_bytes = Sizes[s];
  verdict.pinned_byte_ns = std::max((by_pinned.back() - by_pinned[0]) / static_cast<double>(Largest - Sizes[0]), 0.0);
  verdict.pinned_fixed_ns = by_pinned[0] - verdict.pinned_byte_ns * static_cast<double>(Sizes[0]);
  return verdict;
}

}  // namespace gt::moves
