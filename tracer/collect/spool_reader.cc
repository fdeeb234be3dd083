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
#include <span>
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
    const uint64_t bytes = spool_bytes(options.ring_bytes, options.ring_count + segments);
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
    header->segment_count = segments;
    header->timing = options.timing;
    header->sample = options.sample;
    header->record_memory = options.record_memory;
    header->capture = options.capture;
    header->exact_times = options.exact_times;
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
                    h.segment_count <= (1u << 20) &&
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
    Cursor& cursor = reader.cursors_[i];
    const RingHeader& ring = *reader.ring_header(i);
    cursor.position = ring.tail.load(std::memory_order_relaxed);
    cursor.segment = ring.tail_segment.load(std::memory_order_relaxed);
    cursor.repeated = ring.tail_repeated.load(std::memory_order_relaxed);
    if (cursor.segment != 0 && !reader.whole(cursor.segment)) {
      cursor.segment = 0;
      reader.damage(cursor);
    }
    reader.restore_forms(i);
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
      damaged_(other.damaged_),
      restored_(std::move(other.restored_)) {}

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
SegmentHeader* SpoolReader::segment_header(uint32_t segment) const {
  return reinterpret_cast<SegmentHeader*>(reinterpret_cast<uint8_t*>(header_) +
                                          spool_segment_offset(header_->ring_bytes, header_->ring_count, segment));
}
uint8_t* SpoolReader::data_of(const Cursor& cursor, uint32_t ring) const {
  auto* const header = cursor.segment == 0 ? static_cast<void*>(ring_header(ring)) : segment_header(cursor.segment);
  return static_cast<uint8_t*>(header) + PageBytes;
}
SegmentLink& SpoolReader::link_of(const Cursor& cursor, uint32_t ring) const {
  return cursor.segment == 0 ? ring_header(ring)->next : segment_header(cursor.segment)->next;
}
bool SpoolReader::whole(uint32_t segment) const {
  return segment <= header_->segment_count &&
         spool_segment_offset(header_->ring_bytes, header_->ring_count, segment + 1) <= mapped_;
}

// At a position from which on the ring lies in another segment: goes there. False: damage.
bool SpoolReader::follow_link(uint32_t i) {
  Cursor& cursor = cursors_[i];
  const SegmentLink& link = link_of(cursor, i);
  const uint32_t segment = link.segment.load(std::memory_order_acquire);
  if (segment == 0 || link.start.load(std::memory_order_relaxed) != cursor.position) return true;
  const bool moves = cursor.segment == 0 || cursor.segment_start != cursor.position;  // or links lead in a circle
  if (!moves || !whole(segment)) return false;
  if (frees_segments_) {  // in this order: whoever comes after us finds one of both, and what it leads to
    ring_header(i)->tail.store(cursor.position, std::memory_order_release);
    ring_header(i)->tail_segment.store(segment, std::memory_order_release);
  }
  leave_segment(i);
  cursor.segment = segment;
  cursor.segment_start = cursor.position;
  return true;
}

void SpoolReader::leave_segment(uint32_t i) {
  Cursor& cursor = cursors_[i];
  if (cursor.segment != 0 && frees_segments_) segment_header(cursor.segment)->taken.store(0, std::memory_order_release);
  cursor.segment = 0;
}

// A head outside the ring is damage; there is nothing to read then.
uint64_t SpoolReader::head_of(uint32_t i) const {
  const uint64_t head = ring_header(i)->head.load(std::memory_order_acquire), position = cursors_[i].position;
  const uint64_t most = header_->ring_bytes * (uint64_t{1} + header_->segment_count);
  return head < position || head - position > most ? position : head;
}

void SpoolReader::damage(Cursor& cursor) {
  cursor.broken = true;
  ++damaged_;
}

SpoolReader::Next SpoolReader::peek(uint32_t i, uint64_t head) {
  Cursor& cursor = cursors_[i];
  const uint64_t size = header_->ring_bytes;
  while (!cursor.broken && cursor.position < head) {
    if (!follow_link(i)) {
      damage(cursor);
      break;
    }
    const uint8_t* const data = data_of(cursor, i);
    const uint64_t at = cursor.position & (size - 1), room = std::min(size - at, head - cursor.position);
    uint64_t word = 0;
    std::memcpy(&word, data + at, sizeof word);
    const BlockTag tag = tag_of(word);
    if (is_block_call(tag) || tag == BlockTag::Base) return {data + at, cursor.ticks + 1, true};
    if (tag == BlockTag::Ticks) {
      cursor.ticks = ticks_in(word) - 1;
      cursor.position += sizeof word;
      continue;
    }
    const auto* record = reinterpret_cast<const RecordHeader*>(data + at);
    const uint32_t bytes = record->bytes;
    const bool pad = record->type == RecordType::Pad;
    const bool fits = tag == BlockTag::None && record->type != RecordType::Blocks &&
                      bytes >= (pad ? 8 : sizeof(RecordHeader)) && bytes <= room;
    if (!fits) {
      damage(cursor);
      break;
    }
    if (!pad && record->type != RecordType::Repeat) return {data + at, record->ticks, false};
    if (!pad) {
      const std::optional<uint64_t> left = repeats_left(i, *record, head);
      if (cursor.broken || left == 0) break;
      if (left) return {data + at, record->ticks + cursor.repeated + 1, false, *left};
      cursor.ticks = record->ticks + cursor.repeated;
      cursor.repeated = 0;
    }
    cursor.position += bytes;
  }
  return {};
}

std::optional<uint64_t> SpoolReader::repeats_left(uint32_t i, const RecordHeader& record, uint64_t head) {
  Cursor& cursor = cursors_[i];
  const uint32_t period = record.fn;
  const bool sound = period > 0 && record.bytes == sizeof record + sizeof(RepeatRecord) + 8 * period;
  if (!sound) {
    damage(cursor);
    return std::nullopt;
  }
  // In this order: what lies behind it was seen before the number is read.
  const bool over = final_ || cursor.position + record.bytes < head;
  const auto& repeat = *reinterpret_cast<const RepeatRecord*>(&record + 1);
  const uint64_t calls = repeat.calls.load(std::memory_order_acquire);
  if (calls > cursor.repeated) return calls - cursor.repeated;
  return over ? std::nullopt : std::optional<uint64_t>(0);
}

SpoolReader::Next SpoolReader::peek_from(uint32_t i, uint64_t from, uint64_t head) {
  const Cursor saved = cursors_[i];
  frees_segments_ = false;
  while (SegmentLink* link = &link_of(cursors_[i], i)) {
    const uint64_t start = link->start.load(std::memory_order_relaxed);
    if (link->segment.load(std::memory_order_acquire) == 0 || start > from || start < cursors_[i].position) break;
    cursors_[i].position = start;
    if (!follow_link(i)) break;
  }
  cursors_[i].position = from;
  const Next next = peek(i, head);
  frees_segments_ = true;
  cursors_[i] = saved;
  return next;
}

uint64_t SpoolReader::give(uint32_t i, const Next& next, uint64_t head, uint64_t end, const Visitor& visit) {
  constexpr uint64_t MostBytes = 4096 * 8;
  Cursor& cursor = cursors_[i];
  if (next.repeats > 0) {
    const RecordHeader& record = next.record();
    const uint64_t calls = std::min(next.repeats, end - next.ticks);
    const uint8_t* const words = next.at + sizeof record + sizeof(RepeatRecord);
    visit({record, ByteView(words, 8 * record.fn), i, ring_header(i), cursor.repeated, calls});
    cursor.repeated += calls;
    return 1;
  }
  if (!next.blocks) {
    const RecordHeader& record = next.record();
    visit({record, ByteView(next.at + sizeof record, record.bytes - sizeof record), i, ring_header(i)});
    cursor.position += record.bytes;
    cursor.ticks = record.ticks;
    return 1;
  }
  const uint64_t size = header_->ring_bytes, at = cursor.position & (size - 1);
  const SegmentLink& link = link_of(cursor, i);
  if (link.segment.load(std::memory_order_acquire) != 0)
    head = std::min(head, link.start.load(std::memory_order_relaxed));
  const uint64_t most = std::min({size - at, head - cursor.position, MostBytes});
  uint64_t bytes = 0, calls = 0;
  for (; bytes < most; bytes += 8) {
    uint64_t word = 0;
    std::memcpy(&word, next.at + bytes, sizeof word);
    const BlockTag tag = tag_of(word);
    if (tag != BlockTag::Base && (!is_block_call(tag) || cursor.ticks + calls + 1 >= end)) break;
    calls += tag != BlockTag::Base;
  }
  const RecordHeader header{static_cast<uint32_t>(bytes), RecordType::Blocks, 0, cursor.ticks};
  visit({header, ByteView(next.at, bytes), i, ring_header(i)});
  cursor.position += bytes;
  cursor.ticks += calls;
  return calls;
}

// The time of the first record that came while we looked at the heads.
uint64_t SpoolReader::earliest_beyond(uint32_t used) {
  uint64_t earliest = Never;
  const uint32_t used_now = rings_used();
  for (uint32_t i = 0; i < used_now; ++i) {
    if (i >= used) cursors_[i].h1 = cursors_[i].position;
    const uint64_t h2 = head_of(i);
    if (h2 == cursors_[i].h1) continue;
    const Next next = peek_from(i, cursors_[i].h1, h2);
    // Ticks that are counted say nothing here; but whoever counts is alone.
    if (next.at && !(next.blocks && used_now == 1)) earliest = std::min(earliest, next.ticks);
  }
  return earliest;
}

uint64_t SpoolReader::read(const Visitor& visit, bool final) {
  final_ = final;
  give_restored(visit);
  const uint32_t used = rings_used();
  for (uint32_t i = 0; i < used; ++i) cursors_[i].h1 = head_of(i);
  const uint64_t m = final ? Never : earliest_beyond(used);

  uint64_t given = 0;
  std::vector<std::pair<uint64_t, uint32_t>> heap;  // (time of what is next, ring), earliest on top
  const auto later = std::greater<std::pair<uint64_t, uint32_t>>();
  for (uint32_t i = 0; i < used; ++i) {
    if (const Next next = peek(i, cursors_[i].h1); next.at) heap.emplace_back(next.ticks, i);
  }
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    const uint32_t i = heap.back().second;
    heap.pop_back();
    // Up to the first of another ring's, that one's time included.
    const uint64_t end = std::min(m, heap.empty() || heap.front().first == Never ? Never : heap.front().first + 1);
    Cursor& cursor = cursors_[i];
    Next next = peek(i, cursor.h1);
    uint64_t published = cursor.position;
    for (; next.at && next.ticks < end; next = peek(i, cursor.h1)) {
      given += give(i, next, cursor.h1, end, visit);
      if (cursor.position - published > header_->ring_bytes / 8) {
        published = cursor.position;
        ring_header(i)->tail.store(published, std::memory_order_release);
      }
    }
    ring_header(i)->tail_repeated.store(cursor.repeated, std::memory_order_relaxed);
    ring_header(i)->tail.store(cursor.position, std::memory_order_release);
    if (next.at && next.ticks < m) {
      heap.emplace_back(next.ticks, i);
      std::push_heap(heap.begin(), heap.end(), later);
    }
  }
  return given;
}

// Goes back from what the block words stand for at the ring's end to what they stood for at its tail.
void SpoolReader::restore_forms(uint32_t i) {
  const RingHeader& ring = *ring_header(i);
  const Cursor begin = cursors_[i];
  Restored at_tail{i, ring.base, {ring.forms, ring.forms + BlockFormCount}};
  std::vector<bool> known(BlockFormCount);
  bool base_known = false;
  const uint64_t head = head_of(i), damaged_before = damaged_;
  const auto look = [&](const RecordView& record) {
    if (record.header.type == RecordType::Blocks) {
      ByteReader in(record.payload);
      while (!base_known && in.remaining() >= 8) {
        if (const uint64_t word = in.fixed64(); tag_of(word) == BlockTag::Base)
          at_tail.base = base_before(word), base_known = true;
      }
    } else if (record.header.type == RecordType::BlockForm) {
      ByteReader in(record.payload);
      const uint64_t slot = in.fixed64();
      in.fixed64();
      const uint64_t before = in.fixed64();
      if (!in.ok() || slot >= BlockFormCount || known[slot]) return;
      known[slot] = true;
      at_tail.forms[slot] = before;
    }
  };
  frees_segments_ = false;
  final_ = true;
  for (Next next = peek(i, head); next.at; next = peek(i, head)) give(i, next, head, Never, look);
  final_ = false;
  frees_segments_ = true;
  cursors_[i] = begin;
  damaged_ = damaged_before;
  restored_.push_back(std::move(at_tail));
}

void SpoolReader::give_restored(const Visitor& visit) {
  for (const Restored& ring : std::exchange(restored_, {})) {
    const auto give_words = [&](RecordType type, std::span<const uint64_t> words) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(words.data());
      visit({{0, type, 0, 0}, ByteView(bytes, words.size_bytes()), ring.ring, ring_header(ring.ring)});
    };
    for (uint64_t slot = 0; slot < BlockFormCount; ++slot) {
      if (const uint64_t words[] = {slot, ring.forms[slot], 0}; words[1] != 0) give_words(RecordType::BlockForm, words);
    }
    if (const uint64_t base[] = {base_word(ring.base, 0)}; ring.base != 0) give_words(RecordType::Blocks, base);
  }
}

void SpoolReader::recycle(const std::function<void(uint32_t)>& ended) {
  const uint32_t used = rings_used();
  for (uint32_t i = 0; i < used; ++i) {
    RingHeader* ring = ring_header(i);
    const RingState state = ring->state.load(std::memory_order_acquire);
    if (state == RingState::Free) continue;
    if (state == RingState::Owned && !process_gone(ring->pid)) continue;
    const uint64_t head = ring->head.load(std::memory_order_acquire);
    final_ = true;  // a process that was killed may have left calls that repeat
    const bool empty = !peek(i, head).at && cursors_[i].position == head;
    final_ = false;
    if (!empty) continue;
    (void)follow_link(i);  // to a segment in which nothing was written any more
    ended(i);
    leave_segment(i);
    ring->tail_repeated.store(0, std::memory_order_relaxed);
    ring->tail_segment.store(0, std::memory_order_relaxed);
    ring->next.segment.store(0, std::memory_order_relaxed);
    ring->state.store(RingState::Free, std::memory_order_release);
  }
}

}  // namespace gt::tracer
