// libFuzzer: any bytes as a spool that was left behind. gtrace recover reads it or refuses it.
//
// Input: a byte that says how, one that says where the file is cut, and then either everything (the header, the rings'
// headers, their records) or, in three of four, the records of two rings under sound headers.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tracer/collect/collector.h"
#include "tracer/collect/spool_reader.h"

using namespace gt::tracer;

namespace {

constexpr uint64_t RingBytes = 4096;
constexpr uint32_t RingCount = 2;
constexpr uint32_t SegmentCount = 2;

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  // The next bytes, at most so many of them, into the file.
  size_t into(std::string& file, size_t at, size_t most) {
    const size_t n = std::min(size_, most);
    std::memcpy(file.data() + at, data_, n);
    data_ += n;
    size_ -= n;
    return n;
  }
  size_t left() const { return size_; }

 private:
  const uint8_t* data_;
  size_t size_;
};

std::string any_spool(Input in) {
  std::string file(spool_bytes(RingBytes, RingCount), '\0');
  in.into(file, 0, sizeof(SpoolHeader));
  for (uint32_t i = 0; i < RingCount; ++i) in.into(file, spool_ring_offset(RingBytes, i), sizeof(RingHeader));
  for (uint32_t i = 0; i < RingCount; ++i) in.into(file, spool_ring_offset(RingBytes, i) + PageBytes, RingBytes);
  return file;
}

std::string sound_spool(Input in) {
  std::string file(spool_bytes(RingBytes, RingCount + SegmentCount), '\0');
  auto* header = new (file.data()) SpoolHeader();
  header->ring_count = RingCount;
  header->segment_count = SegmentCount;
  header->ring_bytes = RingBytes;
  header->ns_per_tick = 0.5;
  header->rings_used.store(RingCount);
  for (uint32_t i = 0; i < RingCount; ++i) {
    auto* ring = new (file.data() + spool_ring_offset(RingBytes, i)) RingHeader();
    const size_t share = i + 1 == RingCount ? in.left() : in.left() / 2;
    ring->pid = 1 << 30;  // no such process
    ring->head.store(in.into(file, spool_ring_offset(RingBytes, i) + PageBytes, std::min<size_t>(share, RingBytes)));
  }
  // The last ring goes on in segments, of which the second may be the first again.
  auto* ring = reinterpret_cast<RingHeader*>(file.data() + spool_ring_offset(RingBytes, RingCount - 1));
  SegmentLink* link = &ring->next;
  for (uint32_t s = 1; s <= SegmentCount; ++s) {
    const uint64_t at = spool_segment_offset(RingBytes, RingCount, s), start = ring->head.load();
    link->start.store(start);
    link->segment.store(in.left() % 7 == 1 ? 1 : s);
    link = &(new (file.data() + at) SegmentHeader())->next;
    const size_t begin = start % RingBytes;
    ring->head.store(start + in.into(file, at + PageBytes + begin, RingBytes - begin));
  }
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const Input in(data + 2, size - 2);
  std::string file = data[0] & 3 ? sound_spool(in) : any_spool(in);
  if ((data[0] & 15) == 15) file.resize(file.size() * data[1] / 256);
  static const int fd = memfd_create("spool", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const bool emptied = ftruncate(fd, 0) == 0;
  if (!emptied || pwrite(fd, file.data(), file.size(), 0) != static_cast<ssize_t>(file.size())) std::abort();
  auto reader = SpoolReader::open(path);
  if (!reader) return 0;
  Collector collector(1.0, 0);
  reader->read([&](const RecordView& record) { collector.take(record); }, true);
  const gt::model::Trace trace = collector.finish();
  if (trace.stats.size() != trace.shapes.size()) std::abort();
  return 0;
}
