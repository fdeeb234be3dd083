#include "tracer/collect/spool_reader.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "tracer/lib/process_state.h"
#include "tracer/lib/ticks.h"
#include "traces/base/fd.h"

namespace gt::tracer {

namespace {

// Nanoseconds of a tick, measured over some milliseconds against CLOCK_MONOTONIC.
double measure_ns_per_tick() {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
  };
  const int64_t begin = now();
  const uint64_t begin_ticks = ticks();
  while (now() - begin < 10'000'000) {
  }
  const int64_t end = now();
  return static_cast<double>(end - begin) / static_cast<double>(ticks() - begin_ticks);
}

bool process_gone(int pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

}  // namespace

Result<SpoolReader> SpoolReader::create(const Options& options) {
  const char* tmpdir = std::getenv("TMPDIR");
  const std::string directories[] = {"/dev/shm", tmpdir ? tmpdir : "/tmp", "/tmp"};
  int last = ENOENT;
  for (const std::string& directory : directories) {
    std::string path = fmt::format("{}/gtrace-{}-XXXXXX", directory, getpid());
    Fd fd(mkostemp(path.data(), O_CLOEXEC));
    if (!fd.open()) {
      last = errno;
      continue;
    }
    const uint64_t bytes = spool_bytes(options.ring_bytes, options.ring_count);
    const auto first = static_cast<off_t>(spool_bytes(options.ring_bytes, 2));
    const int err = posix_fallocate(fd.get(), 0,
                                    first);  // the header and two rings, or this is no place for us
    if (err != 0 || ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
      last = err ? err : errno;
      unlink(path.c_str());
      continue;
    }
    SpoolReader reader;
    reader.path_ = path;
    if (Status s = reader.map(fd.get(), bytes); !s) return s;
    auto* header = new (reader.header_) SpoolHeader();
    header->ring_count = options.ring_count;
    header->ring_bytes = options.ring_bytes;
    header->timing = options.timing;
    header->sample = options.sample;
    header->record_memory = options.record_memory;
    header->capture = options.capture;
    header->off = options.paused ? RecordingPaused : RecordingOn;
    header->pauses = options.paused;
    header->gtrace_pid = header->collector_pid = getpid();
    header->max_trace_bytes = options.max_trace_bytes;
    header->stack_bytes = options.stack_bytes;
    header->collector_start = process_state(getpid()).start_time;
    header->ns_per_tick = measure_ns_per_tick();
    header->start_ticks = ticks();
    if (!getcwd(header->folder, sizeof header->folder)) header->folder[0] = 0;
    reader.cursors_.resize(options.ring_count);
    return reader;
  }
  return system_error(
      "cannot make the shared memory for recording in /dev/shm, TMPDIR or /tmp (free some space "
      "there)",
      last);
}

Result<SpoolReader> SpoolReader::open(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.open()) return system_error(path, errno);
  struct stat st {};
  if (fstat(fd.get(), &st) != 0) return system_error(path, errno);
  if (st.st_size < static_cast<off_t>(PageBytes)) {
    return Status(Kind::Corrupt, path + ": too short for a gtrace spool");
  }
  SpoolReader reader;
  reader.path_ = path;
  if (Status s = reader.map(fd.get(), static_cast<uint64_t>(st.st_size)); !s) return s;
  const SpoolHeader& h = *reader.header_;
  const bool ours = h.magic == SpoolMagic && h.version == SpoolVersion;
  const bool sane = ours && h.ring_bytes >= PageBytes && h.ring_bytes <= (uint64_t{1} << 32) &&
                    (h.ring_bytes & (h.ring_bytes - 1)) == 0 && h.ring_count <= (1u << 20) &&
                    h.ns_per_tick > 0 && h.ns_per_tick < 1e6;
  if (!sane) {
    return Status(Kind::Corrupt,
                  path + (ours ? ": damaged header" : ": not a gtrace spool of this version"));
  }
  // A file that was cut short: the rings that are whole can be read.
  const uint64_t whole = (static_cast<uint64_t>(st.st_size) - PageBytes) / (PageBytes + h.ring_bytes);
  reader.cursors_.resize(std::min<uint64_t>(h.ring_count, whole));
  const uint64_t used = std::min<uint64_t>(h.rings_used.load(std::memory_order_relaxed), h.ring_count);
  if (used > whole) reader.damaged_ = used - whole;
  for (uint32_t i = 0; i < reader.rings_used(); ++i) {
    reader.cursors_[i].position = reader.ring_header(i)->tail.load(std::memory_order_relaxed);
  }
  return reader;
}

Status SpoolReader::map(int fd, uint64_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED) return system_error("mapping " + path_, errno);
  header_ = static_cast<SpoolHeader*>(at);
  mapped_ = bytes;
  return {};
}

SpoolReader::SpoolReader(SpoolReader&& other) noexcept
    : path_(std::move(other.path_)),
      header_(std::exchange(other.header_, nullptr)),
      mapped_(other.mapped_),
      cursors_(std::move(other.cursors_)),
      damaged_(other.damaged_) {}

SpoolReader::~SpoolReader() {
  if (header_) munmap(header_, mapped_);
}

void SpoolReader::remove() { unlink(path_.c_str()); }

uint32_t SpoolReader::rings_used() const {
  const uint64_t used = header_->rings_used.load(std::memory_order_acquire);
  return static_cast<uint32_t>(std::min<uint64_t>(used, cursors_.size()));
}

RingHeader* SpoolReader::ring_header(uint32_t i) const {
  return reinterpret_cast<RingHeader*>(reinterpret_cast<uint8_t*>(header_) +
                                       spool_ring_offset(header_->ring_bytes, i));
}
uint8_t* SpoolReader::ring_data(uint32_t i) const {
  return reinterpret_cast<uint8_t*>(ring_header(i)) + PageBytes;
}

const RecordHeader* SpoolReader::peek(uint32_t i, uint64_t head) {
  Cursor& cursor = cursors_[i];
  if (cursor.position >= head) return nullptr;
  const uint64_t size = header_->ring_bytes;
  const uint8_t* const data = ring_data(i);
  while (!cursor.broken && cursor.position < head) {
    const uint64_t at = cursor.position & (size - 1);
    const auto* record = reinterpret_cast<const RecordHeader*>(data + at);
    const uint32_t bytes = record->bytes;
    const bool pad = record->type == RecordType::Pad;
    const bool fits = bytes % 8 == 0 && bytes >= (pad ? 8 : sizeof(RecordHeader)) &&
                      bytes <= size - at && bytes <= head - cursor.position;
    if (!fits) {
      cursor.broken = true;
      ++damaged_;
      break;
    }
    if (!pad) return record;
    cursor.position += bytes;
  }
  return nullptr;
}

uint64_t SpoolReader::read(const Visitor& visit, bool final) {
  constexpr uint64_t Never = std::numeric_limits<uint64_t>::max();
  const uint32_t used = rings_used();
  const auto load = [&](uint32_t i) {
    const uint64_t head = ring_header(i)->head.load(std::memory_order_acquire);
    const Cursor& c = cursors_[i];
    // A head outside the ring is damage; there is nothing to read then.
    return head < c.position || head - c.position > header_->ring_bytes ? c.position : head;
  };
  for (uint32_t i = 0; i < used; ++i) cursors_[i].h1 = load(i);
  uint64_t m = Never;
  if (!final) {
    const uint32_t used_now = rings_used();
    for (uint32_t i = 0; i < used_now; ++i) {
      if (i >= used) cursors_[i].h1 = cursors_[i].position;
      const uint64_t h2 = load(i);
      if (h2 == cursors_[i].h1) continue;
      // The first record in [h1, h2): look with a cursor of its own.
      const Cursor saved = cursors_[i];
      cursors_[i].position = saved.h1;
      const RecordHeader* record = peek(i, h2);
      if (record) m = std::min(m, record->ticks);
      cursors_[i] = saved;
    }
  }

  uint64_t given = 0;
  std::vector<std::pair<uint64_t, uint32_t>> heap;  // (time of next record, ring), earliest on top
  const auto later = std::greater<std::pair<uint64_t, uint32_t>>();
  for (uint32_t i = 0; i < used; ++i) {
    if (const RecordHeader* r = peek(i, cursors_[i].h1)) heap.emplace_back(r->ticks, i);
  }
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    const uint32_t i = heap.back().second;
    heap.pop_back();
    const uint64_t bound = std::min(m, heap.empty() ? Never : heap.front().first);
    Cursor& cursor = cursors_[i];
    const RingHeader* owner = ring_header(i);
    const RecordHeader* record = peek(i, cursor.h1);
    if (record && record->ticks >= m) continue;  // and so for the rest of this ring
    uint64_t published = cursor.position;
    do {
      const auto* bytes = reinterpret_cast<const uint8_t*>(record);
      visit({*record, ByteView(bytes + sizeof(RecordHeader), record->bytes - sizeof(RecordHeader)),
             i, owner});
      cursor.position += record->bytes;
      ++given;
      if (cursor.position - published > header_->ring_bytes / 8) {
        published = cursor.position;
        ring_header(i)->tail.store(published, std::memory_order_release);
      }
      record = peek(i, cursor.h1);
    } while (record && record->ticks <= bound && record->ticks < m);
    ring_header(i)->tail.store(cursor.position, std::memory_order_release);
    if (record && record->ticks < m) {
      heap.emplace_back(record->ticks, i);
      std::push_heap(heap.begin(), heap.end(), later);
    }
  }
  return given;
}

void SpoolReader::recycle(const std::function<void(uint32_t)>& ended) {
  const uint32_t used = rings_used();
  for (uint32_t i = 0; i < used; ++i) {
    RingHeader* ring = ring_header(i);
    const RingState state = ring->state.load(std::memory_order_acquire);
    if (state == RingState::Free) continue;
    if (state == RingState::Owned && !process_gone(ring->pid)) continue;
    if (ring->head.load(std::memory_order_acquire) != cursors_[i].position) continue;
    ended(i);
    ring->state.store(RingState::Free, std::memory_order_release);
  }
}

}  // namespace gt::tracer
