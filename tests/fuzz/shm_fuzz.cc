// libFuzzer: a hostile peer behind the rings of a link inside a node, and a program that uses the link meanwhile.
//
// The input is a list of steps: records, positions that the peer shows, memory that it shares and withdraws, and what
// the program does. The peer writes to the rings also while a record is being taken.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <list>
#include <map>
#include <memory>

#include "tests/fuzz/input.h"
#include "tests/fuzz/seeds.h"
#include "transport/link/node/shm_control.h"
#include "transport/link/node/shm_data.h"

using namespace gt;
using namespace gt::wire;
using fuzz::Input;

namespace {

constexpr size_t SegmentBytes = 200, SharedBytes = 8192, Gotten = 100, LargeBytes = 200'000;

// What every record of the data ring begins with: the layout of ShmData::Carrier.
struct Carrier {
  uint32_t segment, has_notice;
  uint64_t offset, bytes, notice, total, id;
  uint32_t from_segment, zero;
  uint64_t from_offset;
};
static_assert(sizeof(Carrier) == 64);

int memory_file(bool sealed) {
  const int fd = ::memfd_create("shm_fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0 || ::ftruncate(fd, SharedBytes) != 0) std::abort();
  if (sealed && ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0) std::abort();
  return fd;
}

// A ring, with the end of it that the peer has.
template <size_t Bytes>
struct Ring {
  RingShown shown;
  uint8_t data[Bytes];
};
template <size_t Bytes>
struct Way {
  Ring<Bytes>& in = *new Ring<Bytes>;  // for good
  Ring<Bytes>& out = *new Ring<Bytes>;
  // As at the beginning of a link.
  void reset() {
    for (Ring<Bytes>* ring : {&in, &out}) {
      ring->shown.tail = ring->shown.head = 0;
      ring->shown.tell = 0;
      std::memset(ring->data, 0, std::min<size_t>(Bytes, 8192));
    }
  }
};

struct Owner final : ShmOwner, LinkParts, LinkHandler {
  Owner() { life.start(*this); }
  Segments& segments() override { return exposed; }
  const RemoteMapping& peer() override { return peers; }
  std::optional<Address> shared_part(const void* p, size_t bytes) override {
    const auto offset = static_cast<size_t>(static_cast<const char*>(p) - shared);
    if (p < shared || offset > SharedBytes || bytes > SharedBytes - offset) return {};
    return Address{shared_segment, offset};
  }
  void copy(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  bool in_handler() override { return true; }
  void say_bye() override {}
  bool all_arrived() override { return true; }
  void stop() override {}
  void on_frame(ByteView frame) override {
    seen += frame.empty() ? 0 : frame.back();
    scribble();
  }
  void on_put(Notice, size_t) override { scribble(); }
  void on_closed(const Status&) override {}

  LinkLife life{*this};
  Segments exposed;
  RemoteMapping peers;
  char* shared = nullptr;  // of ours that the peer maps
  SegmentId shared_segment = 0;
  std::function<void()> scribble;
  unsigned seen = 0;
};

class HostileLink {
 public:
  HostileLink() {
    control_way().reset();
    data_way().reset();
    static char* const shared = new char[SharedBytes]();
    owner_.shared = shared;
    owner_.shared_segment = *owner_.exposed.add(shared, SharedBytes);
    owner_.scribble = [this] {
      ++scribbled_;
      data_way().in.data[scribbled_] = control_way().in.data[scribbled_] = scribbled_;
    };
  }
  ~HostileLink() { data_.set_quiet(); }

  bool step(Input& in) {
    switch (in.byte() % 12) {
      case 0: case 1: case 2: data_record(in); break;
      case 3: control_record(in); break;
      case 4: shout(in); break;
      case 5: show_positions(in); break;
      case 6: transfer(in); break;
      case 7: expose(); break;
      case 8: withdraw(in); break;
      case 9: send(in); break;
      case 10: share(in); break;
      default: take_all();
    }
    return work(control_) && work(data_) && !owner_.life.is_ended();
  }

 private:
  static Way<ControlRing>& control_way() { static Way<ControlRing> way; return way; }
  static Way<DataRing>& data_way() { static Way<DataRing> way; return way; }

  template <class Channel>
  bool work(Channel& channel) {
    for (;;) {
      const auto more = channel.work();
      if (!more || !*more) return more.ok();
    }
  }
  template <size_t Capacity>
  void produce(Ring<Capacity>& ring, ByteView bytes) {
    uint64_t tail = ring.shown.tail;
    for (const uint8_t b : bytes) ring.data[tail++ % Capacity] = b;
    ring.shown.tail = tail;
  }
  template <size_t Capacity>
  void record(Ring<Capacity>& ring, Input& in, Bytes content, uint32_t kind) {
    const uint8_t how = in.byte();
    const ByteView more = in.bytes(how % 128);
    content.insert(content.end(), more.begin(), more.end());
    const RecordHeader header{static_cast<uint32_t>(how < 250 ? content.size() : in.number(DataRing)), kind};
    Bytes all(sizeof header);
    std::memcpy(all.data(), &header, sizeof header);
    all.insert(all.end(), content.begin(), content.end());
    produce(ring, all);
  }
  void data_record(Input& in) {
    const uint32_t kind = in.byte() % 6;
    const uint64_t limit = SegmentBytes;
    const Carrier c{in.byte() % 5u, in.byte() & 1u, in.number(limit), in.number(limit), in.byte(), in.number(limit),
                    in.number(limit), in.byte() % 4u, 0, in.number(SharedBytes)};
    const auto* const p = reinterpret_cast<const uint8_t*>(&c);
    record(data_way().in, in, Bytes(p, p + sizeof c), kind);
  }
  void control_record(Input& in) {
    const uint32_t kind = in.byte() % 4;
    record(control_way().in, in, {}, kind);
  }
  void shout(Input& in) {
    const bool data = in.byte() & 1;
    const ByteView bytes = in.bytes(in.byte());
    data ? produce(data_way().in, bytes) : produce(control_way().in, bytes);
  }
  void show_positions(Input& in) {
    const uint8_t which = in.byte();
    const uint64_t by = in.number(DataRing);
    RingShown& shown = which & 1 ? data_way().in.shown : control_way().out.shown;
    (which & 2 ? shown.tail : shown.head) += by;
  }
  void take_all() {
    data_way().out.shown.head = data_way().out.shown.tail.load();
    control_way().out.shown.head = control_way().out.shown.tail.load();
  }
  void transfer(Input& in) {
    const uint8_t how = in.byte();
    const Address there{in.byte() % 5u, in.number(SharedBytes)};
    if (how & 1) return void(data_.get(gotten_.emplace_back(Gotten).data(), there, Gotten));
    static const std::vector<char> Large(LargeBytes);
    const bool shared = how & 2;
    const size_t most = shared ? SharedBytes : LargeBytes, bytes = in.number(most) % (most + 1);
    const auto notice = how & 4 ? std::optional<Notice>(1) : std::nullopt;
    const Ticket ticket = data_.put(shared ? owner_.shared : Large.data(), there, bytes, notice);
    if (how & 8) (void)data_.test(ticket);
  }
  void expose() {
    auto memory = std::make_unique<char[]>(SegmentBytes);
    if (const auto segment = owner_.exposed.add(memory.get(), SegmentBytes)) memory_[*segment] = std::move(memory);
  }
  void withdraw(Input& in) {
    const auto segment = static_cast<SegmentId>(in.byte() % 5);
    if (memory_.count(segment) == 0) return;
    (void)owner_.exposed.withdraw(segment);
    memory_.erase(segment);
  }
  void send(Input& in) {
    const bool large = in.byte() == 255;
    const ByteView some = in.bytes(in.byte() % 32);
    static const Bytes Much(size_t{100} << 10);
    const ByteView parts[] = {some, large ? Much : some};
    (void)control_.send(parts);
  }
  void share(Input& in) {
    static const int files[] = {memory_file(true), memory_file(true), memory_file(false), ::open("/dev/null", O_RDWR)};
    const auto segment = static_cast<SegmentId>(in.number(1024 * 1024));
    const uint8_t how = in.byte();
    if (how & 16) return owner_.peers.withdraw(segment);
    const uint64_t offset = how & 32 ? in.number(SharedBytes) : 0;
    const uint64_t bytes = how & 64 ? in.number(SharedBytes) : SharedBytes;
    (void)owner_.peers.map(segment, files[how % 4], offset, bytes);
  }

  Owner owner_;
  std::map<SegmentId, std::unique_ptr<char[]>> memory_;
  std::list<std::vector<char>> gotten_;
  uint8_t scribbled_ = 0;
  Bell bells_[4];
  ShmControl control_{owner_.life, {control_way().out.shown, control_way().out.data, ControlRing},
                      {control_way().in.shown, control_way().in.data, ControlRing}, bells_[0], bells_[1]};
  ShmData data_{owner_.life, owner_, {data_way().out.shown, data_way().out.data, DataRing},
                {data_way().in.shown, data_way().in.data, DataRing}, bells_[2], bells_[3]};
};

}  // namespace

std::vector<Bytes> fuzz_seeds() {
  return {{7},                                                              // a segment: number 2
          {10, 1, 0},                                                       // memory of the peer's: number 1
          {0, 1, 2, 1, 5, 4, 9, 4, 0, 0, 0, 4, 1, 2, 3, 4},                 // Put with a notice
          {0, 1, 2, 0, 5, 4, 0, 8, 0, 0, 0, 4, 1, 2, 3, 4, 0, 1, 2, 1, 5, 4, 9, 8, 4, 0, 0, 4, 1, 2, 3, 4},
          {0, 2, 2, 1, 5, 50, 9, 50, 0, 1, 7, 0},                           // Fetch from the peer's memory
          {0, 3, 2, 0, 5, 50, 0, 50, 1, 0, 0, 0},                           // Get, to be answered through the ring
          {0, 3, 2, 0, 5, 50, 0, 50, 1, 1, 7, 0},                           // Get into the peer's memory
          {6, 1, 3, 10, 0, 4, 0, 0, 0, 100, 0, 0, 1, 0, 0, 100, 1, 2, 3},   // a get of ours, and Got
          {6, 0, 3, 200, 7, 6, 4, 1, 100, 6, 12, 1, 100},                   // puts of ours
          {6, 2, 3, 7, 199, 6, 0, 1, 199, 11}, {3, 1, 3, 1, 2, 3, 3, 2, 3, 4, 5, 6}, {9, 255, 3, 1, 2, 3, 11},
          {8, 2}, {11}, {10, 1, 16}, {5, 1, 8}, {5, 2, 8}, {5, 0, 8}, {4, 1, 3, 1, 2, 3}};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input in(data, size);
  HostileLink link;
  while (!in.empty() && link.step(in)) continue;
  return 0;
}
