// The program's side of the requests.
#include "optimizer-rt/pool/requests.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "traces/base/clock.h"
#include "traces/base/fd.h"

namespace gt::opt {
namespace {

constexpr uint64_t Second_ns = 1'000'000'000;
constexpr uint64_t Look_ns = 5'000'000;            // between looks for the answer
constexpr uint64_t Beatless_ns = 3 * Second_ns;    // without a beat: goptimize is gone, or stopped
constexpr uint64_t ReplyMargin_ns = 2 * Second_ns;  // beyond the limit, which is goptimize's to keep
constexpr uint64_t MostLimit_ms = 24 * 3600'000;

// nanosleep() would be a cancellation point.
void sleep_briefly() {
  timespec time {};
  time.tv_nsec = Look_ns;
  ::syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, nullptr);
}

bool same(const DeviceTexts& a, const DeviceTexts& b) {
  return std::strncmp(a.platform, b.platform, sizeof a.platform) == 0 &&
         std::strncmp(a.name, b.name, sizeof a.name) == 0 && std::strncmp(a.driver, b.driver, sizeof a.driver) == 0;
}

// The slot in which somebody asks for this device, or has.
RequestSlot* find(Requests& requests, const DeviceTexts& device) {
  for (RequestSlot& s : requests.slots) {
    const uint32_t state = s.state.load(std::memory_order_acquire);
    if ((state == RequestSlot::Asked || state == RequestSlot::Answered) && same(s.device, device)) return &s;
  }
  return nullptr;
}

RequestSlot* take(Requests& requests, const DeviceTexts& device) {
  for (RequestSlot& s : requests.slots) {
    uint32_t free = RequestSlot::Free;
    if (!s.state.compare_exchange_strong(free, RequestSlot::Writing, std::memory_order_relaxed)) continue;
    s.device = device;
    s.state.store(RequestSlot::Asked, std::memory_order_release);
    return &s;
  }
  return nullptr;
}

}  // namespace

bool Requests::ask(const DeviceTexts& device) noexcept {
  const std::atomic_ref<uint64_t> limit(limit_ms);
  if (limit.load(std::memory_order_relaxed) == 0) return false;
  RequestSlot* slot = find(*this, device);
  if (!slot) slot = take(*this, device);
  if (!slot) return false;
  const uint64_t limit_ns = std::min(limit.load(std::memory_order_relaxed), MostLimit_ms) * 1'000'000 + ReplyMargin_ns;
  const uint64_t start = monotonic_ns();
  uint64_t seen = beats.load(std::memory_order_relaxed), seen_ns = start;
  while (slot->state.load(std::memory_order_acquire) != RequestSlot::Answered) {
    const uint64_t now = monotonic_ns(), beat = beats.load(std::memory_order_relaxed);
    if (beat != seen) seen = beat, seen_ns = now;
    if (now - start > limit_ns || now - seen_ns > Beatless_ns) return false;
    if (limit.load(std::memory_order_relaxed) == 0) return false;
    sleep_briefly();
  }
  return true;
}

Requests* map_requests() noexcept {
  const char* const path = std::getenv(RequestsVariable);
  if (!path) return nullptr;
  const Fd file(::open(path, O_RDWR | O_CLOEXEC));
  struct stat st {};
  if (!file.open() || ::fstat(file.get(), &st) != 0 || st.st_size != sizeof(Requests)) return nullptr;
  void* const p = ::mmap(nullptr, sizeof(Requests), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (p == MAP_FAILED) return nullptr;
  auto* const requests = static_cast<Requests*>(p);
  if (requests->magic == RequestsMagic && requests->size == sizeof(Requests)) return requests;
  ::munmap(p, sizeof(Requests));
  return nullptr;
}

}  // namespace gt::opt
