#include "tests/bench/kept_records.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <new>

#include "tracer/collect/backlog_room.h"
#include "tracer/collect/collector.h"
#include "tracer/collect/spool_reader.h"
#include "tracer/interpose/launch.h"
#include "traces/base/fd.h"
#include "traces/model/fold/fold.h"

namespace gt::bench {

namespace {

using namespace tracer;

constexpr uint64_t Magic = 0x3153444f43455247;  // "GRECODS1"

struct FileHead {
  uint64_t magic = Magic;
  uint32_t spool_version = SpoolVersion;
  uint32_t owner_bytes = sizeof(RingHeader);
  double ns_per_tick = 0;
  uint64_t start_ticks = 0;
};

// What follows an entry: a record's payload; a RingHeader of the ring's new owner; nothing, the ring has ended.
enum class EntryKind : uint32_t { Record, Owner, RingEnded };
struct Entry {
  EntryKind kind = EntryKind::Record;
  uint32_t ring = 0;
  uint64_t bytes = 0;
  RecordHeader header{};
  uint64_t first_call = 0, calls = 0;
};

class Writer {
 public:
  explicit Writer(const std::string& path) : file_(std::fopen(path.c_str(), "wb"), std::fclose) {}
  bool good() const { return file_ && !failed_; }
  void head(const SpoolHeader& spool) {
    FileHead head;
    head.ns_per_tick = spool.ns_per_tick;
    head.start_ticks = spool.start_ticks;
    put(&head, sizeof head);
  }
  void record(const RecordView& r) {
    const auto owner = std::pair(r.owner->pid, r.owner->tid);
    if (const auto [known, fresh] = owners_.try_emplace(r.ring, owner); fresh) {
      entry({EntryKind::Owner, r.ring, sizeof(RingHeader)}, r.owner);
    } else if (known->second != owner) {
      known->second = owner;
      entry({EntryKind::Owner, r.ring, sizeof(RingHeader)}, r.owner);
    }
    entry({EntryKind::Record, r.ring, r.payload.size(), r.header, r.first_call, r.calls}, r.payload.data());
  }
  void ring_ended(uint32_t ring) {
    owners_.erase(ring);
    entry({EntryKind::RingEnded, ring}, "");
  }
  Status finish() {
    const bool whole = good() && std::fflush(file_.get()) == 0;
    return whole ? Status() : system_error("writing the records", errno);
  }

 private:
  void entry(const Entry& e, const void* content) {
    put(&e, sizeof e);
    put(content, e.bytes);
    constexpr char Zeros[8] = {};
    put(Zeros, -e.bytes & 7);
  }
  void put(const void* data, size_t bytes) { failed_ |= bytes > 0 && std::fwrite(data, bytes, 1, file_.get()) != 1; }

  std::unique_ptr<FILE, int (*)(FILE*)> file_;
  bool failed_ = false;
  std::map<uint32_t, std::pair<int32_t, int32_t>> owners_;
};

class KeptFile {
 public:
  ~KeptFile() {
    if (data_) munmap(data_, bytes_);
  }
  Status open(const std::string& path) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat st {};
    if (!fd.open() || fstat(fd.get(), &st) != 0) return system_error(path, errno);
    bytes_ = static_cast<size_t>(st.st_size);
    void* const at = bytes_ ? mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd.get(), 0) : MAP_FAILED;
    if (at == MAP_FAILED) return Status(Kind::Invalid, path + ": no records");
    data_ = static_cast<uint8_t*>(at);
    const FileHead ours;
    const bool fits = bytes_ >= sizeof ours && head().magic == ours.magic &&
                      head().spool_version == ours.spool_version && head().owner_bytes == ours.owner_bytes;
    return fits ? Status() : Status(Kind::Invalid, path + ": not records of this build's collect_bench --keep");
  }
  const FileHead& head() const { return *reinterpret_cast<const FileHead*>(data_); }
  // visit(entry, content)
  template <class Visit>
  void each(Visit&& visit) const {
    for (size_t at = sizeof(FileHead); at + sizeof(Entry) <= bytes_;) {
      const Entry& entry = *reinterpret_cast<const Entry*>(data_ + at);
      at += sizeof entry;
      if (entry.bytes > bytes_ - at) return;
      visit(entry, ByteView(data_ + at, entry.bytes));
      at += (entry.bytes + 7) & ~size_t{7};
    }
  }

 private:
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
};

void replay(const KeptFile& file, Collector& collector) {
  std::vector<const RingHeader*> by_ring;
  file.each([&](const Entry& entry, ByteView content) {
    if (entry.ring >= by_ring.size()) by_ring.resize(entry.ring + 1);
    switch (entry.kind) {
      case EntryKind::Owner:
        by_ring[entry.ring] = reinterpret_cast<const RingHeader*>(content.data());
        return;
      case EntryKind::RingEnded:
        return collector.ring_ended(entry.ring);
      case EntryKind::Record:
        if (by_ring[entry.ring])
          collector.take({entry.header, content, entry.ring, by_ring[entry.ring], entry.first_call, entry.calls});
        return;
    }
  });
}

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Of all streams: whoever makes the collector faster sees whether it still comes to the same.
std::pair<size_t, uint64_t> sum_of(const model::Trace& trace) {
  ByteWriter out;
  for (const model::Stream& stream : trace.streams) model::encode_nodes(out, stream.nodes);
  uint64_t sum = 0xcbf29ce484222325;
  for (const uint8_t byte : out.view()) sum = (sum ^ byte) * 0x100000001b3;
  return {out.size(), sum};
}

}  // namespace

Result<int> keep_records(const std::string& file, const std::vector<std::string>& command) {
  const Result<std::string> library = interpose::injected_library("trace");
  if (!library) return library.status();
  SpoolReader::Options options;
  options.most_backlog = MostBacklog;
  options.stack_bytes = 65536;  // as gtrace run
  Result<SpoolReader> spool = SpoolReader::create(options);
  if (!spool) return spool.status();
  Writer out(file);
  const auto run = [&]() -> Result<int> {
    if (!out.good()) return system_error(file, errno);
    out.head(spool->header());
    interpose::LaunchRequest request;
    request.command = command;
    request.library = *library;
    request.layer = true;
    request.variables = {{SpoolVariable, spool->path()}};
    Result<interpose::LaunchPlan> plan = interpose::plan_launch(request);
    if (!plan) return plan.status();
    Result<interpose::Launched> program = interpose::Launched::start(*plan);
    if (!program) return program.status();
    const RecordVisitor keep = [&](const RecordView& record) { out.record(record); };
    for (;;) {
      if (spool->read(keep) > 0) continue;
      spool->recycle([&](uint32_t ring) { out.ring_ended(ring); });
      if (program->wait(std::chrono::milliseconds(1))) break;
    }
    spool->header().off.store(RecordingEnded);
    spool->read(keep, true);
    GT_TRY(out.finish());
    return program->exit_status();
  };
  Result<int> status = run();
  spool->remove();
  return status;
}

Status measure_records(const std::string& path) {
  KeptFile file;
  GT_TRY(file.open(path));
  Collector collector(file.head().ns_per_tick, file.head().start_ticks);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const double used = processor_seconds();
  replay(file, collector);
  const uint64_t opencl = collector.calls(), memory = collector.memory_calls();
  const model::Trace trace = collector.finish();  // what other threads fold is folded then
  const double processors = processor_seconds() - used;
  const double taken = std::chrono::duration<double>(Clock::now() - begin).count();
  const auto calls = static_cast<double>(std::max<uint64_t>(opencl + memory, 1));
  std::printf("%llu OpenCL calls, %llu memory calls: %.2f s, %.2f million calls/s; processors %.2f s, %.1f ns a call\n",
              static_cast<unsigned long long>(opencl), static_cast<unsigned long long>(memory), taken,
              calls / taken / 1e6, processors, processors * 1e9 / calls);
  const auto [bytes, sum] = sum_of(trace);
  std::printf("%zu bytes of streams, sum %016llx\n", bytes, static_cast<unsigned long long>(sum));
  const std::string senseless(trace.fact("lost.undecodable_records"));
  if (senseless != "0") std::printf("%s records made no sense\n", senseless.c_str());
  return {};
}

}  // namespace gt::bench
