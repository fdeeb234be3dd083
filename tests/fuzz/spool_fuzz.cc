// libFuzzer: any bytes as a spool that was left behind. gtrace recover reads it or refuses it.
//
// Input: the file itself, patched so that most of them get past the header: a magic number and sizes that fit. The
// first byte says how much of that is done.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

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

// Header, ring headers and records are cut from the input one after another; the rest of each page stays zero.
std::string spool_from(const uint8_t* data, size_t size) {
  std::string file(spool_bytes(RingBytes, RingCount), '\0');
  const auto take = [&](size_t at, size_t most) {
    const size_t n = size < most ? size : most;
    std::memcpy(file.data() + at, data, n);
    data += n;
    size -= n;
  };
  take(0, sizeof(SpoolHeader));
  for (uint32_t i = 0; i < RingCount; ++i) take(spool_ring_offset(RingBytes, i), sizeof(RingHeader));
  for (uint32_t i = 0; i < RingCount; ++i) take(spool_ring_offset(RingBytes, i) + PageBytes, RingBytes);
  return file;
}

void make_plausible(std::string& file) {
  auto* header = reinterpret_cast<SpoolHeader*>(file.data());
  header->magic = SpoolMagic;
  header->version = SpoolVersion;
  header->ring_count = RingCount;
  header->ring_bytes = RingBytes;
  header->ns_per_tick = 0.5;
  header->rings_used.store(RingCount);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  std::string file = spool_from(data + 1, size - 1);
  if (data[0] & 3) make_plausible(file);
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
