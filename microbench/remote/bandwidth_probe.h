// Bandwidth by size, as VOCL's authors show it: a window of transfers that do not block, and one after the other, to
// and from a device here, the same device behind links, and the raw links themselves, all in turns.
//
// A transfer to a device counts as over when clFinish says so. Unpipelined is what pipelining is compared with: pieces
// of PieceBytes, each on the device before the next one leaves. The raw link moves bytes and does nothing else: a bare
// socket to another process, or a copy into memory that two processes share.
// Thread safety: none.
#pragma once

#include <array>
#include <map>
#include <memory>

#include "microbench/base/cl_session.h"
#include "microbench/links/bare_socket.h"
#include "microbench/base/sampler.h"
#include "transport/copy/region.h"

namespace gt::bench {

constexpr size_t MostWindowTransfers = 32;
constexpr uint64_t MostWindowBytes = uint64_t{256} << 20;  // of one window; larger transfers are fewer
constexpr uint64_t PieceBytes = uint64_t{1} << 20;

// How many transfers a window of this size has: two at least.
size_t window_of(uint64_t bytes);

using copy::Way;
enum class Pattern : uint8_t { Window, Single, Unpipelined };
constexpr size_t Ways = 2, Patterns = 3;

// Medians of the time of one transfer, by its size.
using TimesBySize = std::map<uint64_t, model::Median>;
using Times = std::array<std::array<TimesBySize, Patterns>, Ways>;
inline const TimesBySize& times_of(const Times& times, Way way, Pattern pattern) {
  return times[static_cast<size_t>(way)][static_cast<size_t>(pattern)];
}

// What moves bytes from and to the host memory that all carriers share. Returns when they are there.
using Mover = std::function<Status(Way way, Pattern pattern, uint64_t bytes, std::span<uint8_t> memory)>;

// A device, with a buffer of `capacity`. Unsupported when it has no room.
Result<Mover> device_mover(std::shared_ptr<Session> session, uint64_t capacity);
Mover socket_mover(BareSocket socket);
// Unsupported when there is no memory.
Result<Mover> shared_memory_mover(uint64_t capacity);

struct Carrier {
  std::string name;
  Mover move;
  bool unpipelined = false;  // measure that, too
};

// Bytes that came back from a device are those that went there; an error says that they are not.
Status check_contents(const Carrier& carrier, std::span<uint8_t> memory);

// One entry a carrier. Sizes beyond `memory` are left out.
Result<std::vector<Times>> measure_bandwidth(const std::vector<Carrier>& carriers, const std::vector<uint64_t>& sizes,
                                             std::span<uint8_t> memory, const Pace& pace);

}  // namespace gt::bench
