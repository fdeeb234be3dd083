#include "tracer/collect/spool_reader.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "tracer/collect/backlog_room.h"
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

constexpr uint64_t Never = std::numeric_limits<uint64_t>::max();

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
    const uint64_t backlog = std::min(options.most_backlog, backlog_room(directory));
    const auto segments = static_cast<uint32_t>(backlog / options.ring_bytes);
    const uint64_t tables = options.listed_from == 0 ? 0 : options.ring_count * sizeof(CallCounts);
    const uint64_t bytes = spool_bytes(options.ring_bytes, options.ring_count + segments) + tables;
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
    auto* header = new (reader.memory_.header) SpoolHeader();
    header->ring_count = options.ring_count;
    header->ring_bytes = options.ring_bytes;
    header->segment_count = segments;
    header->timing = options.timing;
    header->sample = options.sample;
    header->record_memory = options.record_memory;
    header->capture = options.capture;
    header->choice = options.choice;
    header->exact_times = options.exact_times;
    header->off = options.paused ? RecordingPaused : RecordingOn;
    header->pauses = options.paused;
    header->gtrace_pid = header->collector_pid = getpid();
    header->max_trace_bytes = options.max_trace_bytes;
    header->stack_bytes = options.stack_bytes;
    header->listed_from = options.listed_from;
    header->collector_start = process_state(getpid()).start_time;
    header->ns_per_tick = measure_ns_per_tick();
    header->start_ticks = ticks();
    if (!getcwd(header->folder, sizeof header->folder)) header->folder[0] = 0;
    reader.add_rings(options.ring_count);
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
  const SpoolHeader& h = *reader.memory_.header;
  const bool ours = h.magic == SpoolMagic && h.version == SpoolVersion;
  const bool sane = ours && h.ring_bytes >= PageBytes && h.ring_bytes <= (uint64_t{1} << 32) &&
                    (h.ring_bytes & (h.ring_bytes - 1)) == 0 && h.ring_count <= (1u << 20) &&
                    h.segment_count <= (1u << 20) && h.ns_per_tick > 0 && h.ns_per_tick < 1e6;
  if (!sane) {
    return Status(Kind::Corrupt,
                  path + (ours ? ": damaged header" : ": not a gtrace spool of this version"));
  }
  // A file that was cut short: the rings that are whole can be read.
  const uint64_t whole = (static_cast<uint64_t>(st.st_size) - PageBytes) / (PageBytes + h.ring_bytes);
  reader.add_rings(std::min<uint64_t>(h.ring_count, whole));
  const uint64_t used = std::min<uint64_t>(h.rings_used.load(std::memory_order_relaxed), h.ring_count);
  if (used > whole) reader.cut_off_ = used - whole;
  for (uint32_t i = 0; i < reader.rings_used(); ++i) reader.rings_[i].reader.take_over();
  reader.restores_ = true;
  return reader;
}

Status SpoolReader::map(int fd, uint64_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED) return system_error("mapping " + path_, errno);
  memory_ = {static_cast<SpoolHeader*>(at), bytes};
  return {};
}

void SpoolReader::add_rings(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) rings_.push_back({RingReader(memory_, static_cast<uint32_t>(i))});
}

SpoolReader::SpoolReader(SpoolReader&& other) noexcept
    : path_(std::move(other.path_)),
      memory_(std::exchange(other.memory_, {})),
      rings_(std::move(other.rings_)),
      cut_off_(other.cut_off_),
      restores_(other.restores_),
      before_(std::move(other.before_)) {}

SpoolReader::~SpoolReader() {
  if (memory_.header) munmap(memory_.header, memory_.bytes);
}

void SpoolReader::remove() { unlink(path_.c_str()); }

uint32_t SpoolReader::rings_used() const {
  const uint64_t used = memory_.header->rings_used.load(std::memory_order_acquire);
  return static_cast<uint32_t>(std::min<uint64_t>(used, rings_.size()));
}

CallCounts* SpoolReader::counts(uint32_t ring) const {
  const SpoolHeader& spool = *memory_.header;
  const RingHeader& owner = memory_.ring(ring);
  const uint64_t at = spool_counts_offset(spool, ring);
  const bool there = spool.listed_from != 0 && owner.counts.load(std::memory_order_acquire) != 0 &&
                     owner.state.load(std::memory_order_acquire) != RingState::Free &&
                     at + sizeof(CallCounts) <= memory_.bytes;
  return there ? reinterpret_cast<CallCounts*>(reinterpret_cast<uint8_t*>(memory_.header) + at) : nullptr;
}

uint64_t SpoolReader::damaged_rings() const {
  const auto damaged = std::count_if(rings_.begin(), rings_.end(), [](const Ring& r) { return r.reader.damaged(); });
  return cut_off_ + static_cast<uint64_t>(damaged);
}

uint64_t SpoolReader::waiting_bytes() const {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < rings_used(); ++i) bytes += rings_[i].reader.head() - rings_[i].reader.position();
  return bytes;
}

// The time of the first record that came while we looked at the heads.
uint64_t SpoolReader::earliest_beyond() {
  uint64_t earliest = Never;
  const uint32_t used = rings_used();
  for (uint32_t i = 0; i < used; ++i) {
    const Ring& ring = rings_[i];
    const uint64_t h2 = ring.reader.head();
    if (h2 == ring.h1) continue;
    const RingReader::Next next = ring.reader.look_from(ring.h1, ring.clock).peek(h2, false);
    if (next.at) earliest = std::min(earliest, next.ticks);
  }
  return earliest;
}

uint64_t SpoolReader::read(const Visitor& visit, bool final, uint64_t most) {
  give_restored(visit);
  bool repeat_waits = false;
  const uint64_t given = read_round(visit, final, most, repeat_waits);
  // What one round finds of calls that repeat, the next one can give.
  return repeat_waits && given < most ? given + read_round(visit, final, most - given, repeat_waits) : given;
}

uint64_t SpoolReader::read_round(const Visitor& visit, bool final, uint64_t most, bool& repeat_waits) {
  const uint32_t used = rings_used();
  for (uint32_t i = 0; i < used; ++i) {
    rings_[i].clock = memory_.ring(i).clock.load(std::memory_order_acquire);
    rings_[i].h1 = rings_[i].reader.see();
  }
  uint64_t m = final ? Never : earliest_beyond();

  uint64_t given = 0, bytes = 0;
  std::vector<std::pair<uint64_t, uint32_t>> heap;  // (time of what is next, ring), earliest on top
  const auto later = std::greater<std::pair<uint64_t, uint32_t>>();
  for (uint32_t i = 0; i < used; ++i) {
    const RingReader::Next next = rings_[i].reader.peek(rings_[i].h1, final);
    if (next.waits) {
      m = std::min(m, next.ticks);
    } else if (next.at) {
      heap.emplace_back(next.ticks, i);
    }
    repeat_waits |= next.waits;
  }
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty() && given < most && bytes < most_bytes_) {
    std::pop_heap(heap.begin(), heap.end(), later);
    const uint32_t i = heap.back().second;
    heap.pop_back();
    // Up to the first of another ring's, that one's time included.
    const uint64_t end = std::min(m, heap.empty() || heap.front().first == Never ? Never : heap.front().first + 1);
    const uint64_t h1 = rings_[i].h1;
    RingReader& reader = rings_[i].reader;
    RingReader::Next next = reader.peek(h1, final);
    uint64_t published = reader.position();
    for (; next.at && !next.waits && next.ticks < end && given < most; next = reader.peek(h1, final)) {
      const uint64_t before = reader.position();
      given += reader.give(next, h1, end, visit);
      bytes += reader.position() - before;
      if (bytes >= most_bytes_) break;
      if (reader.position() - published > memory_.header->ring_bytes / 8) {
        published = reader.position();
        reader.publish();
      }
    }
    reader.publish();
    repeat_waits |= next.waits;
    if (next.waits) {
      m = std::min(m, next.ticks);
    } else if (next.at && next.ticks < m) {
      heap.emplace_back(next.ticks, i);
      std::push_heap(heap.begin(), heap.end(), later);
    }
  }
  return given;
}

void SpoolReader::recycle(const std::function<void(uint32_t)>& ended) {
  for (const uint32_t ring : ended_rings()) {
    ended(ring);
    free_ring(ring);
  }
}

std::vector<uint32_t> SpoolReader::ended_rings() {
  std::vector<uint32_t> all;
  const uint32_t used = rings_used();
  for (uint32_t i = 0; i < used; ++i) {
    RingHeader& ring = memory_.ring(i);
    const RingState state = ring.state.load(std::memory_order_acquire);
    if (state == RingState::Free) continue;
    if (state == RingState::Owned && !process_gone(ring.pid)) continue;
    RingReader& reader = rings_[i].reader;
    const uint64_t head = ring.head.load(std::memory_order_acquire);
    if (!reader.peek(head, true).at && reader.position() == head) all.push_back(i);
  }
  return all;
}

void SpoolReader::free_ring(uint32_t ring) {
  rings_[ring].reader.begin_again();
  memory_.ring(ring).state.store(RingState::Free, std::memory_order_release);
}

void SpoolReader::hold(uint64_t most_bytes) {
  most_bytes_ = most_bytes;
  for (Ring& ring : rings_) ring.reader.hold();
}

void SpoolReader::release() {
  most_bytes_ = Never;
  for (Ring& ring : rings_) ring.reader.release();
}

std::vector<RingReader::Place> SpoolReader::places() const {
  std::vector<RingReader::Place> places;
  for (uint32_t i = 0; i < rings_used(); ++i) places.push_back(rings_[i].reader.place());
  return places;
}

void SpoolReader::go_on_behind(std::span<const RingReader::Place> places, std::vector<FormsBefore> before) {
  const size_t known = std::min<size_t>(places.size(), rings_used());
  for (size_t i = 0; i < known; ++i) rings_[i].reader.go_to(places[i]);
  before_ = std::move(before);
}

void SpoolReader::give_restored(const Visitor& visit) {
  if (!std::exchange(restores_, false)) return;
  before_.resize(std::max<size_t>(before_.size(), rings_used()));
  for (uint32_t i = 0; i < rings_used(); ++i) {
    FormsBefore& before = before_[i];
    if (!before.ended()) {
      RingReader look = rings_[i].reader.look();
      const RecordVisitor see = [&](const RecordView& record) { before.see(record); };
      const uint64_t head = look.head();
      for (auto next = look.peek(head, true); next.at; next = look.peek(head, true)) look.give(next, head, Never, see);
      before.end(memory_.ring(i));
    }
    before.give(i, visit);
  }
  before_.clear();
}

}  // namespace gt::tracer
