// Transfers through an executor, of every data path and shape, against a model.
#include <algorithm>
#include <random>

#include "tests/random_bytes.h"
#include "tests/unit/executor_client.h"

namespace gt::exec {
namespace {

using api::FnId;
using wire::DataPath;
using wire::Part;

constexpr size_t SlotBytes = 4096;

Options small_slots() {
  Options options;
  options.inbox_slots = 4;
  options.read_slots = 3;
  options.slot_bytes = SlotBytes;
  options.ring_bytes = 200'000;
  return options;
}

Bytes random_bytes(std::mt19937& random, size_t n) {
  Bytes bytes(n);
  testing::randomize(random, bytes);
  return bytes;
}

// A buffer and what must be in it.
struct Model : Ready {
  explicit Model(cl_command_queue_properties properties = 0) : Ready(real_driver(), {}, small_slots(), properties) {
    buffer = new_buffer(Size);
    content = random_bytes(random, Size);
    write(queue, buffer, 0, ByteView(content).first(Size / 2));
    write(queue, buffer, Size / 2, ByteView(content).subspan(Size / 2));
  }

  uint64_t below(uint64_t n) { return random() % n; }
  Part random_part() {
    Part p;
    if (below(2)) {
      p.origin[0] = below(Size);
      p.region[0] = 1 + below(Size - p.origin[0]);
      return p;
    }
    p.shape = Part::Shape::Box;
    p.region = {1 + below(300), 1 + below(20), 1 + below(6)};
    p.row_pitch = p.region[0] + below(30);
    p.slice_pitch = p.row_pitch * (p.region[1] + below(3));
    if (below(3) == 0) p.region = {1 + below(9000), 1 + below(3), 1}, p.row_pitch = p.slice_pitch = 0;
    p.origin = {below(40), below(4), below(2)};
    return p;
  }
  // Where the part's bytes lie in the buffer, packed bytes in order; empty: outside.
  std::vector<size_t> places(const Part& p) const {
    if (p.shape == Part::Shape::Range) {
      std::vector<size_t> at(p.region[0]);
      for (size_t i = 0; i < at.size(); ++i) at[i] = p.origin[0] + i;
      return at;
    }
    const size_t row = p.row_pitch ? p.row_pitch : p.region[0];
    const size_t slice = p.slice_pitch ? p.slice_pitch : row * p.region[1];
    std::vector<size_t> at;
    for (size_t z = 0; z < p.region[2]; ++z)
      for (size_t y = 0; y < p.region[1]; ++y)
        for (size_t x = 0; x < p.region[0]; ++x)
          at.push_back((p.origin[2] + z) * slice + (p.origin[1] + y) * row + p.origin[0] + x);
    return at.back() < Size ? at : std::vector<size_t>();
  }
  DataPath data_path_for(size_t bytes) {
    constexpr DataPath Ways[] = {DataPath::Inline, DataPath::Stream, DataPath::Shared, DataPath::Ring};
    const DataPath c = Ways[below(4)];
    return c == DataPath::Inline && bytes > wire::LargestInline ? DataPath::Stream : c;
  }
  uint32_t random_chunk() { return below(2) ? 0 : static_cast<uint32_t>(1 + below(SlotBytes)); }

  void random_write() {
    wire::Write m;
    m.part = random_part();
    const std::vector<size_t> at = places(m.part);
    if (at.empty()) return;
    m.queue = queue;
    m.mem = buffer;
    m.event = new_id();
    m.bytes = at.size();
    m.transfer = ++transfers;
    m.data_path = data_path_for(at.size());
    m.chunk_bytes = m.data_path == DataPath::Stream ? std::max<uint32_t>(random_chunk(), 64) : 0;
    const Bytes& packed = kept.emplace_back(random_bytes(random, at.size()));
    for (size_t i = 0; i < at.size(); ++i) content[at[i]] = packed[i];
    if (m.data_path == DataPath::Inline) m.data = packed;
    if (m.data_path == DataPath::Shared) share(m, packed.data(), packed.size());
    if (m.data_path == DataPath::Ring) std::memcpy(take_ring(m), packed.data(), packed.size());
    m.data_path == DataPath::Stream ? stream(m, 1, packed, surveyed) : send(m);
  }
  void random_read() {
    wire::Read m;
    m.part = random_part();
    const std::vector<size_t> at = places(m.part);
    if (at.empty()) return;
    m.queue = queue;
    m.mem = buffer;
    m.event = new_id();
    m.bytes = at.size();
    m.transfer = ++transfers;
    m.data_path = data_path_for(at.size());
    m.chunk_bytes = std::max<uint32_t>(random_chunk(), 64);
    Reading reading{m.event, Bytes(at.size()), Bytes(at.size()), m.data_path, nullptr};
    if (m.data_path == DataPath::Ring) reading.in_ring = take_ring(m);
    for (size_t i = 0; i < at.size(); ++i) reading.expected[i] = content[at[i]];
    Reading& placed = readings.emplace_back(std::move(reading));
    if (m.data_path == DataPath::Shared) share(m, placed.got.data(), m.bytes);
    if (m.data_path == DataPath::Stream) m.segment = *link().expose(placed.got.data(), m.bytes);
    send(m);
  }
  template <class Message>
  void share(Message& m, const void* p, size_t bytes) {
    const wire::Address a = *link().shared_address(p, bytes);
    m.segment = a.segment;
    m.offset = a.offset;
  }
  // Room that nothing under way uses.
  template <class Message>
  uint8_t* take_ring(Message& m) {
    if (surveyed.ring_bytes - ring_used < m.bytes) {
      check_readings();
      CHECK(finish(0) == CL_SUCCESS);
      ring_used = 0;
    }
    m.offset = ring_used;
    ring_used += m.bytes;
    return static_cast<uint8_t*>(link().view({surveyed.ring_segment, m.offset}, m.bytes));
  }
  void check_readings() {
    for (Reading& r : readings) {
      CHECK(completion(r.event).status == CL_COMPLETE);
      if (r.in_ring) std::memcpy(r.got.data(), r.in_ring, r.got.size());
      const std::lock_guard lock(mutex);
      const bool same = (r.data_path == DataPath::Inline ? data[r.event] : r.got) == r.expected;
      CHECK(same);
    }
    readings.clear();
  }

  static constexpr size_t Size = 60'000;
  struct Reading {
    ObjectId event;
    Bytes expected, got;
    DataPath data_path;
    const uint8_t* in_ring;
  };
  std::mt19937 random{12345};
  ObjectId buffer = 0;
  Bytes content;
  uint32_t transfers = 0;
  uint64_t ring_used = 0;
  std::deque<Bytes> kept;  // until the device has them
  std::deque<Reading> readings;
};

TEST_CASE("an in-order queue keeps its order, whatever carries the bytes") {
  Model client;
  for (int i = 0; i < 400; ++i) client.below(2) ? client.random_write() : client.random_read();
  client.check_readings();
  CHECK(client.finish(client.queue) == CL_SUCCESS);
  CHECK(client.read(client.queue, client.buffer, 0, Model::Size) == client.content);
  CHECK(client.failures.empty());
  CHECK(client.finish(client.queue) == CL_SUCCESS);
  CHECK(client.executor->counters().in_flight_bytes == 0);
}

TEST_CASE("a box without gaps, and one whose rows are longer than a slot") {
  Model client;
  for (const uint64_t width : {uint64_t{100}, uint64_t{20'000}}) {
    wire::Write m;
    m.part.shape = Part::Shape::Box;
    m.part.region = {width, 2, 1};
    m.queue = client.queue;
    m.mem = client.buffer;
    m.bytes = width * 2;
    m.transfer = ++client.transfers;
    m.data_path = DataPath::Stream;
    const Bytes packed = random_bytes(client.random, m.bytes);
    client.stream(m, 1, packed, client.surveyed);
    CHECK(client.read(client.queue, client.buffer, 0, m.bytes) == packed);
  }
}

// A write of `bytes` ones, in chunks, that waits for `user`.
wire::Write waiting_write(Model& client, ObjectId queue, ObjectId user, size_t bytes) {
  wire::Write m;
  m.queue = queue;
  m.mem = client.buffer;
  m.event = client.new_id();
  m.part.region[0] = m.bytes = bytes;
  m.transfer = ++client.transfers;
  m.data_path = DataPath::Stream;
  if (user) m.waits = {user};
  return m;
}

TEST_CASE("a stream whose turn has not come holds up no other") {
  for (const cl_command_queue_properties kind : {0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}) {
    Model client(kind);
    CHECK(client.finish(0) == CL_SUCCESS);
    const ObjectId user = client.new_user_event(), other = client.new_queue(0);
    const Bytes ones(12 * SlotBytes, 1), twos(12 * SlotBytes, 2);
    const wire::Write first = waiting_write(client, client.queue, user, ones.size());
    client.stream(first, 1, ones, client.surveyed);
    const wire::Write second = waiting_write(client, other, 0, twos.size());
    client.stream(second, 1, twos, client.surveyed);
    CHECK(client.subscribed(second.event).status == CL_COMPLETE);
    CHECK(client.read(other, client.buffer, 0, twos.size()) == twos);
    client.set_user_event(user, CL_COMPLETE);
    CHECK(client.subscribed(first.event).status == CL_COMPLETE);
    CHECK(client.read(other, client.buffer, 0, ones.size()) == ones);
    CHECK(client.finish(other) == CL_SUCCESS);
    CHECK(client.executor->counters().in_flight_bytes == 0);
  }
}

TEST_CASE("a stream whose turn does not come gives its slots back, although there are others") {
  Model client;
  const ObjectId user = client.new_user_event();
  const uint64_t before = client.executor->counters().in_flight_bytes;
  const Bytes ones(3 * SlotBytes, 1);  // of four slots
  const wire::Write m = waiting_write(client, client.queue, user, ones.size());
  client.stream(m, 1, ones, client.surveyed);
  CHECK(client.wait_until([&] { return client.credits.size() == 4; }));
  CHECK(client.executor->counters().in_flight_bytes == before + ones.size());
  client.set_user_event(user, CL_COMPLETE);
  CHECK(client.subscribed(m.event).status == CL_COMPLETE);
  CHECK(client.read(client.queue, client.buffer, 0, ones.size()) == ones);
  CHECK(client.executor->counters().in_flight_bytes <= before);
}

TEST_CASE("a read in chunks arrives also when queue and context were released before its turn") {
  Model client;
  const Bytes ones(6 * SlotBytes, 1);
  client.write(client.queue, client.buffer, 0, ones);
  const ObjectId user = client.new_user_event();
  Bytes got(ones.size());
  wire::Read m;
  m.queue = client.queue;
  m.mem = client.buffer;
  m.event = client.new_id();
  m.part.region[0] = m.bytes = got.size();
  m.data_path = DataPath::Stream;
  m.segment = *client.link().expose(got.data(), got.size());
  m.waits = {user};
  client.send(m);
  client.call<api::FnId::clReleaseCommandQueue>(0, 0, named<cl_command_queue>(client.queue));
  client.call<api::FnId::clReleaseMemObject>(0, 0, named<cl_mem>(client.buffer));
  client.call<api::FnId::clReleaseContext>(0, 0, named<cl_context>(client.context));
  client.set_user_event(user, CL_COMPLETE);
  CHECK(client.completion(m.event).status == CL_COMPLETE);
  CHECK(got == ones);
}

TEST_CASE("a stream that fails takes its chunks all the same, and fails its event") {
  Model client;
  const ObjectId user = client.new_user_event();
  const Bytes ones(6 * SlotBytes, 1);
  const wire::Write waits = waiting_write(client, client.queue, user, ones.size());
  client.stream(waits, 1, ones, client.surveyed);
  client.set_user_event(user, -5);
  CHECK(client.subscribed(waits.event).status < 0);
  wire::Write nowhere = waiting_write(client, client.queue, 0, ones.size());
  nowhere.mem = client.new_id();
  client.stream(nowhere, 1, ones, client.surveyed);
  CHECK(client.failure().code == CL_INVALID_MEM_OBJECT);
  CHECK(client.subscribed(nowhere.event).status == CL_INVALID_MEM_OBJECT);
  const wire::Write good = waiting_write(client, client.queue, 0, ones.size());
  client.stream(good, 1, ones, client.surveyed);
  CHECK(client.subscribed(good.event).status == CL_COMPLETE);
  CHECK(client.wait_until([&] { return client.credits.size() == 4; }));
}

TEST_CASE("chunks may come before the message that they belong to") {
  Model client;
  const Bytes packed = random_bytes(client.random, 3 * SlotBytes);
  const wire::Write m = waiting_write(client, client.queue, 0, packed.size());
  const copy::Chunks chunks(m.part, 1, SlotBytes);
  client.put_chunk(m.transfer, chunks.at(0), packed, client.surveyed);
  client.put_chunk(m.transfer, chunks.at(1), packed, client.surveyed);
  client.send(m);
  client.put_chunk(m.transfer, chunks.at(2), packed, client.surveyed);
  CHECK(client.read(client.queue, client.buffer, 0, packed.size()) == packed);
}

TEST_CASE("wrong chunks close the link") {
  const Bytes packed(SlotBytes, 1);
  const auto put = [&](Model& client, uint32_t slot, size_t bytes) {
    client.link().put(packed.data(), {client.surveyed.inbox_segment, 0}, bytes, wire::chunk_notice(1, slot));
  };
  SUBCASE("a slot that is not there") {
    Model client;
    put(client, 4, 1);
    CHECK(client.is_closed());
  }
  SUBCASE("a slot that is taken") {
    Model client;
    put(client, 0, 1);
    CHECK_FALSE(client.is_closed());
    put(client, 0, 1);
    CHECK(client.is_closed());
  }
  SUBCASE("a chunk of another size") {
    Model client;
    client.send(waiting_write(client, client.queue, 0, 2 * SlotBytes));
    if (client.transfers == 1) put(client, 0, SlotBytes - 1);
    CHECK(client.is_closed());
  }
}

TEST_CASE("shared memory is pinned once, and let go before it is withdrawn") {
  Options options;
  options.inbox_slots = options.read_slots = 0;  // pins of streams hold the context, too
  Ready c(real_driver(), {}, options);
  constexpr size_t Size = 200'000;
  const ObjectId buffer = c.new_buffer(Size);
  void* base = nullptr;
  const wire::SegmentId segment = *c.link().allocate(Size, &base);
  std::mt19937 random(5);
  const Bytes bytes = random_bytes(random, Size);
  std::memcpy(base, bytes.data(), Size);
  const auto write_shared = [&] {
    wire::Write m;
    m.queue = c.queue;
    m.mem = buffer;
    m.event = c.new_id();
    m.part.region[0] = m.bytes = 1000;
    m.part.origin[0] = m.offset = 500;
    m.data_path = DataPath::Shared;
    m.segment = segment;
    c.send(m);
    return c.completion(m.event).status;
  };
  // A pin is a buffer, which keeps its context: PoCL counts that. Commands that are over may still hold it for a while.
  const auto info = reinterpret_cast<decltype(&::clGetContextInfo)>(real_driver()[FnId::clGetContextInfo]);
  auto* const context = static_cast<cl_context>(c.executor->native(api::ObjectKind::Context, c.context));
  const auto references = [&] {
    cl_uint n = 0;
    c.finish(c.queue);
    info(context, CL_CONTEXT_REFERENCE_COUNT, sizeof n, &n, nullptr);
    return n;
  };
  const cl_uint before = references();
  CHECK(write_shared() == CL_COMPLETE);
  CHECK(references() == before + 1);
  CHECK(write_shared() == CL_COMPLETE);
  CHECK(references() == before + 1);
  REQUIRE(c.link().withdraw(segment).ok());
  CHECK(references() == before);
  CHECK(write_shared() == CL_INVALID_HOST_PTR);
  CHECK(references() == before);
  const Bytes there = c.read(c.queue, buffer, 500, 1000);
  CHECK(std::equal(there.begin(), there.end(), bytes.begin() + 500));
}

TEST_CASE("nothing beside the ring is read or written") {
  Model client;
  const uint64_t ring = client.surveyed.ring_bytes;
  REQUIRE(ring == 200'000);
  wire::Read read;
  read.queue = client.queue;
  read.mem = client.buffer;
  read.part.region[0] = read.bytes = 1000;
  read.data_path = DataPath::Ring;
  const auto status_at = [&](uint64_t offset) {
    read.event = client.new_id();
    read.offset = offset;
    client.send(read);
    return client.completion(read.event).status;
  };
  CHECK(status_at(0) == CL_COMPLETE);
  CHECK(status_at(ring - 1000) == CL_COMPLETE);
  for (const uint64_t offset : {ring - 999, ring, ring + 1, ~uint64_t{0}, ~uint64_t{0} - 999})
    CHECK(status_at(offset) == CL_INVALID_HOST_PTR);
}

TEST_CASE("without a ring transfers of it are refused") {
  Options options;
  options.ring_bytes = 0;
  Ready c(real_driver(), {}, options);
  CHECK(c.survey().ring_bytes == 0);
  wire::Write m;
  m.queue = c.queue;
  m.mem = c.new_buffer(100);
  m.event = c.new_id();
  m.part.region[0] = m.bytes = 100;
  m.data_path = DataPath::Ring;
  c.send(m);
  CHECK(c.completion(m.event).status == CL_INVALID_HOST_PTR);
}

TEST_CASE("images move by elements") {
  Model client;
  constexpr size_t Width = 33, Height = 21;
  const ObjectId image = client.new_id();
  const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT32};
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = Width;
  desc.image_height = Height;
  cl_int code = 0;
  client.call<FnId::clCreateImage>(image, 0, named<cl_context>(client.context), cl_mem_flags{CL_MEM_READ_WRITE},
                                   &format, &desc, nullptr, &code);
  const Bytes packed = random_bytes(client.random, Width * Height * 16);
  wire::Write m = waiting_write(client, client.queue, 0, packed.size());
  m.mem = image;
  m.part = Part();
  m.part.shape = Part::Shape::Image;
  m.part.region = {Width, Height, 1};
  client.stream(m, 16, packed, client.surveyed);
  CHECK(client.subscribed(m.event).status == CL_COMPLETE);
  wire::Read back;
  back.queue = client.queue;
  back.mem = image;
  back.event = client.new_id();
  back.part = m.part;
  back.part.origin = {3, 4, 0};
  back.part.region = {20, 10, 1};
  back.bytes = 20 * 10 * 16;
  client.send(back);
  CHECK(client.completion(back.event).status == CL_COMPLETE);
  const Bytes& got = client.data[back.event];
  REQUIRE(got.size() == back.bytes);
  for (size_t y = 0; y < 10; ++y)
    CHECK(std::equal(got.begin() + y * 320, got.begin() + (y + 1) * 320,
                     packed.begin() + ((y + 4) * Width + 3) * 16));
  CHECK(client.failures.empty());
}

TEST_CASE("small transfers: more at a time than there is pinned memory for") {
  Options options;
  options.small_bytes = 1 << 20;
  Ready client(real_driver(), {}, options);
  constexpr size_t Each = 60'000, Count = (2 << 20) / Each;
  const ObjectId buffer = client.new_buffer(Each * Count), gate = client.new_user_event();
  std::mt19937 random(5);
  const Bytes content = random_bytes(random, Each * Count);
  std::vector<ObjectId> reads;
  for (size_t i = 0; i < Count; ++i) {
    wire::Write to;
    to.queue = client.queue;
    to.mem = buffer;
    to.part.origin[0] = i * Each;
    to.part.region[0] = to.bytes = Each;
    to.data = ByteView(content).subspan(i * Each, Each);
    to.waits = {gate};
    client.send(to);
    wire::Read back;
    back.queue = client.queue;
    back.mem = buffer;
    back.event = reads.emplace_back(client.new_id());
    back.part = to.part;
    back.bytes = Each;
    client.send(back);
  }
  client.set_user_event(gate, CL_COMPLETE);
  for (size_t i = 0; i < Count; ++i) {
    REQUIRE(client.completion(reads[i]).status == CL_COMPLETE);
    const auto expected = content.begin() + static_cast<std::ptrdiff_t>(i * Each);
    CHECK(client.wait_for(client.data, reads[i]) == Bytes(expected, expected + Each));
  }
  CHECK(client.read(client.queue, buffer, 0, Each) == Bytes(content.begin(), content.begin() + Each));
  CHECK(client.failures.empty());
}

}  // namespace
}  // namespace gt::exec
