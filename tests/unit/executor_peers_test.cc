// Two executors of one client: what goes from the one's device to the other's, and what comes of it when they cannot.
#include <algorithm>
#include <random>

#include "tests/random_bytes.h"
#include "tests/unit/executor_client.h"
#include "tests/unit/link/link_pairs.h"
#include "tests/unit/peer_acceptor.h"

namespace gt::exec {
namespace {

using wire::DataPath;
using wire::Part;

constexpr uint32_t Peer = 7;
constexpr size_t Size = 100'000, SlotBytes = 4096;

wire::Url acceptor_url(const std::string& scheme) {
  if (scheme != "shm") return *wire::parse_url(scheme + "://127.0.0.1:0");
  ::setenv("XDG_RUNTIME_DIR", wire::scratch_folder().c_str(), 1);  // peers use only the usual names
  return *wire::parse_url("shm:peers");
}

Bytes random_bytes(std::mt19937& random, size_t n) {
  Bytes bytes(n);
  testing::randomize(random, bytes);
  return bytes;
}

struct Pair {
  explicit Pair(const std::string& scheme = "tcp")
      : acceptor(acceptor_url(scheme)),
        options(with(scheme)),
        a(std::make_unique<Ready>(real_driver(), Limits{}, options)),
        b(std::make_unique<Ready>(real_driver(), Limits{}, options)) {}
  // First who still calls the clients.
  ~Pair() {
    a->executor.reset();
    b->executor.reset();
  }

  Options with(const std::string& scheme) {
    Options o;
    o.inbox_slots = 4;
    o.read_slots = 3;
    o.slot_bytes = SlotBytes;
    o.open_peer_listener = [this] { return acceptor.open(); };
    if (scheme == "tls") o.certificates = wire::certificate_credentials();
    return o;
  }
  wire::Joined begin_peering() {
    const wire::Invited invited = b->invite(Peer);
    CHECK(invited.code == CL_SUCCESS);
    return a->join(Peer, invited);
  }
  // A buffer that holds it.
  static ObjectId filled(Ready& where, const Bytes& content) {
    const ObjectId buffer = where.new_buffer(content.size());
    for (size_t at = 0; at < content.size(); at += wire::LargestInline)
      where.write(where.queue, buffer, at,
                  ByteView(content).subspan(at, std::min(content.size() - at, wire::LargestInline)));
    return buffer;
  }
  static Bytes content(Ready& where, ObjectId buffer, size_t bytes) {
    Bytes all;
    for (size_t at = 0; at < bytes; at += wire::LargestInline) {
      const Bytes piece = where.read(where.queue, buffer, at, std::min(bytes - at, wire::LargestInline));
      all.insert(all.end(), piece.begin(), piece.end());
    }
    return all;
  }
  template <class Message>
  static Message half(Ready& where, ObjectId mem, const Part& part, uint32_t transfer) {
    Message m;
    m.queue = where.queue;
    m.mem = mem;
    m.event = where.new_id();
    m.part = part;
    m.bytes = part.region[0] * std::max<uint64_t>(part.region[1], 1) * std::max<uint64_t>(part.region[2], 1);
    m.data_path = DataPath::Peer;
    m.segment = Peer;
    m.transfer = transfer;
    return m;
  }
  static cl_int status(Ready& where, ObjectId event) { return where.subscribed(event).status; }

  PeerAcceptor acceptor;
  Options options;
  std::unique_ptr<Ready> a, b;
};

Part range(uint64_t from, uint64_t bytes) {
  Part part;
  part.origin[0] = from;
  part.region = {bytes, 1, 1};
  return part;
}

TEST_CASE("contents go both ways over every link, in pieces of any shape, whichever message comes first") {
  std::vector<std::string> schemes{"tcp", "shm"};
  if (!wire::certificate_credentials().ca.empty()) schemes.push_back("tls");
  for (const std::string& scheme : schemes) {
    CAPTURE(scheme);
    Pair two(scheme);
    const wire::Joined joined = two.begin_peering();
    REQUIRE_MESSAGE(joined.code == CL_SUCCESS, joined.text);
    CHECK(joined.text == two.acceptor.url());
    std::mt19937 random(1);
    Bytes in_a = random_bytes(random, Size), in_b = random_bytes(random, Size);
    const ObjectId mem_a = Pair::filled(*two.a, in_a), mem_b = Pair::filled(*two.b, in_b);
    uint64_t moved = 0;
    std::vector<std::pair<Ready*, ObjectId>> events;
    for (uint32_t i = 1; i <= 40; ++i) {
      const bool there = random() % 2;
      const uint64_t from = random() % Size, bytes = 1 + random() % (Size - from);
      Part part = range(from, bytes);
      if (random() % 3 == 0) {
        part.shape = Part::Shape::Box;
        part.region = {1 + random() % 300, 1 + random() % 20, 1 + random() % 4};
        part.row_pitch = 320;
        part.slice_pitch = 320 * 20;
        part.origin = {random() % 20, 0, random() % 4};
      }
      Ready& source = there ? *two.a : *two.b;
      Ready& target = there ? *two.b : *two.a;
      Bytes &was = there ? in_a : in_b, &becomes = there ? in_b : in_a;
      auto read = Pair::half<wire::Read>(source, there ? mem_a : mem_b, part, i);
      auto write = Pair::half<wire::Write>(target, there ? mem_b : mem_a, part, i);
      // What the source reads is what was there before: the target's earlier writes have to be over.
      for (const auto& [where, event] : events) CHECK(Pair::status(*where, event) == CL_COMPLETE);
      events.clear();
      if (random() % 2) {
        target.send(write);
        source.send(read);
      } else {
        source.send(read);
        target.send(write);
      }
      events.emplace_back(&target, write.event);
      CHECK(source.completion(read.event).status == CL_COMPLETE);
      moved += read.bytes;
      for (uint64_t z = 0; z < part.region[2]; ++z)
        for (uint64_t y = 0; y < part.region[1]; ++y) {
          const uint64_t at = part.origin[0] + (part.origin[2] + z) * part.slice_pitch + y * part.row_pitch;
          std::copy_n(was.begin() + static_cast<long>(at), part.region[0], becomes.begin() + static_cast<long>(at));
        }
    }
    for (const auto& [where, event] : events) CHECK(Pair::status(*where, event) == CL_COMPLETE);
    CHECK(Pair::content(*two.a, mem_a, Size) == in_a);
    CHECK(Pair::content(*two.b, mem_b, Size) == in_b);
    const Counters a = two.a->executor->counters(), b = two.b->executor->counters();
    CHECK(a.peer_bytes_in + b.peer_bytes_in == moved);
    CHECK(a.peer_bytes_out + b.peer_bytes_out == moved);
  }
}

TEST_CASE("several transfers under way at a time, more than there are slots for") {
  Pair two;
  REQUIRE(two.begin_peering().code == CL_SUCCESS);
  std::mt19937 random(2);
  const Bytes content = random_bytes(random, Size);
  const ObjectId mem_a = Pair::filled(*two.a, content);
  std::vector<std::pair<ObjectId, ObjectId>> copies;  // buffer, event
  const ObjectId gate = two.b->new_user_event();
  for (uint32_t i = 1; i <= 10; ++i) {
    const ObjectId mem = two.b->new_buffer(Size);
    auto write = Pair::half<wire::Write>(*two.b, mem, range(0, Size), i);
    if (i == 1) write.waits = {gate};  // its turn comes late, and that of the others later
    two.b->send(write);
    two.a->send(Pair::half<wire::Read>(*two.a, mem_a, range(0, Size), i));
    copies.emplace_back(mem, write.event);
  }
  two.b->set_user_event(gate, CL_COMPLETE);
  for (const auto& [mem, event] : copies) {
    CHECK(Pair::status(*two.b, event) == CL_COMPLETE);
    CHECK(Pair::content(*two.b, mem, Size) == content);
  }
}

TEST_CASE("who does not know the secret, or comes second, is not let in") {
  Pair two;
  wire::Invited invited = two.b->invite(Peer);
  wire::Invited wrong = invited;
  wrong.secret[3] ^= 1;
  CHECK(two.a->join(Peer, wrong).code == CL_DEVICE_NOT_AVAILABLE);
  CHECK(two.a->join(Peer, invited).code == CL_DEVICE_NOT_AVAILABLE);  // one attempt is what a peer listener is for
  invited = two.b->invite(Peer + 1);
  CHECK(two.a->join(Peer + 1, invited).code == CL_SUCCESS);
  Ready third(real_driver(), {}, two.options);
  CHECK(third.join(Peer + 1, invited).code == CL_DEVICE_NOT_AVAILABLE);
  wire::Invited elsewhere = two.b->invite(Peer + 2);
  elsewhere.urls = {"shm:/tmp/any.sock", "shm:nobody", "tcp://127.0.0.1:1", "nonsense"};
  CHECK(two.a->join(Peer + 2, elsewhere).code == CL_DEVICE_NOT_AVAILABLE);
}

TEST_CASE("an executor that has no peers says so") {
  Ready alone(real_driver());
  const wire::Invited invited = alone.invite(Peer);
  CHECK(invited.code == CL_INVALID_OPERATION);
  CHECK(alone.join(Peer, invited).code == CL_INVALID_OPERATION);
  const ObjectId mem = alone.new_buffer(Size);
  const auto write = Pair::half<wire::Write>(alone, mem, range(0, Size), 1);
  alone.send(write);
  CHECK(Pair::status(alone, write.event) == CL_INVALID_VALUE);
  const auto read = Pair::half<wire::Read>(alone, mem, range(0, Size), 1);
  alone.send(read);
  CHECK(alone.completion(read.event).status == CL_INVALID_VALUE);
  CHECK_FALSE(alone.is_closed());
}

TEST_CASE("a sender that cannot read, or is gone: the receiver's event fails, and it goes on without") {
  for (const bool dies : {false, true}) {
    CAPTURE(dies);
    Pair two;
    REQUIRE(two.begin_peering().code == CL_SUCCESS);
    const ObjectId mem_b = two.b->new_buffer(Size);
    const auto write = Pair::half<wire::Write>(*two.b, mem_b, range(0, Size), 1);
    two.b->send(write);
    if (dies)
      two.a->executor.reset();
    else
      two.a->send(Pair::half<wire::Read>(*two.a, 999'999, range(0, Size), 1));
    CHECK(Pair::status(*two.b, write.event) < 0);
    const auto again = Pair::half<wire::Write>(*two.b, mem_b, range(0, Size), 2);
    two.b->send(again);
    CHECK(Pair::status(*two.b, again.event) < 0);
    std::mt19937 random(3);
    const Bytes content = random_bytes(random, Size);
    CHECK(Pair::content(*two.b, Pair::filled(*two.b, content), Size) == content);
  }
}

TEST_CASE("a receiver that is gone: the sender goes on") {
  Pair two;
  REQUIRE(two.begin_peering().code == CL_SUCCESS);
  std::mt19937 random(4);
  const Bytes content = random_bytes(random, Size);
  const ObjectId mem_a = Pair::filled(*two.a, content);
  const auto read = Pair::half<wire::Read>(*two.a, mem_a, range(0, Size), 1);
  two.a->send(read);  // nobody writes it: the slots are full soon
  two.b->executor.reset();
  (void)two.a->completion(read.event);
  CHECK(Pair::content(*two.a, mem_a, Size) == content);
}

}  // namespace
}  // namespace gt::exec
