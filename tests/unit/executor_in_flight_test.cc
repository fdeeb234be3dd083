// A client that may hold little host memory for transfers under way: they wait for room, and come to their end.
#include "tests/unit/executor_client.h"
#include "transport/executor/base/in_flight.h"

namespace gt::exec {
namespace {

using api::FnId;
using wire::DataPath;

constexpr size_t SlotBytes = 4096;

Options four_slots() {
  Options options;
  options.inbox_slots = 4;
  options.slot_bytes = SlotBytes;
  return options;
}

Limits may_hold(uint64_t bytes, uint32_t in_flight_timeout_ms) {
  Limits limits;
  limits.in_flight_bytes = bytes;
  limits.in_flight_timeout_ms = in_flight_timeout_ms;
  return limits;
}

constexpr uint32_t Long_ms = 120'000, Short_ms = 100;

struct Small : Ready {
  Small(uint64_t bytes, uint32_t in_flight_timeout_ms)
      : Ready(real_driver(), may_hold(bytes, in_flight_timeout_ms), four_slots()) {
    buffer = new_buffer(Size);
    CHECK(finish(queue) == CL_SUCCESS);
  }

  wire::Write write_of(ObjectId on, ObjectId waits_for, uint64_t offset, size_t bytes, DataPath data_path) {
    wire::Write m;
    m.queue = on;
    m.mem = buffer;
    m.event = new_id();
    m.part.origin[0] = offset;
    m.part.region[0] = m.bytes = bytes;
    m.data_path = data_path;
    if (data_path == DataPath::Stream) m.transfer = ++transfers;
    if (waits_for) m.waits = {waits_for};
    return m;
  }
  // An inline write; its event.
  ObjectId write_after(ObjectId waits_for, uint64_t offset, const Bytes& bytes) {
    wire::Write m = write_of(queue, waits_for, offset, bytes.size(), DataPath::Inline);
    m.data = bytes;
    send(m);
    return m.event;
  }
  void put(const wire::Write& m, const Bytes& packed, uint64_t from, uint64_t to) {
    const copy::Chunks chunks(m.part, 1, SlotBytes);
    for (uint64_t i = from; i < to; ++i) put_chunk(m.transfer, chunks.at(i), packed, surveyed);
  }

  // What the buffer begins with, read without holding memory there.
  Bytes content(ObjectId on, size_t bytes) {
    Bytes got(bytes);
    const wire::Address address = *link().shared_address(got.data(), bytes);
    wire::Read m;
    m.queue = on;
    m.mem = buffer;
    m.event = new_id();
    m.part.region[0] = m.bytes = bytes;
    m.data_path = DataPath::Shared;
    m.segment = address.segment;
    m.offset = address.offset;
    send(m);
    CHECK(completion(m.event).status == CL_COMPLETE);
    return got;
  }

  static constexpr size_t Size = 64 * SlotBytes;
  ObjectId buffer = 0;
  uint32_t transfers = 0;
};

Bytes numbered(size_t bytes, uint8_t first) {
  Bytes out(bytes);
  for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<uint8_t>(first + i * 7);
  return out;
}

TEST_CASE("memory comes back by itself unless something waits for what comes from outside") {
  InFlight in_flight(10, std::chrono::milliseconds(0));
  CHECK(in_flight.try_hold(10));
  CHECK_FALSE(in_flight.try_hold(1));
  InFlight::Watch watch(in_flight);
  CHECK_FALSE(watch.is_stuck());
  in_flight.depends(1);
  CHECK(watch.is_stuck());
  CHECK_FALSE(in_flight.refuses(1));
  in_flight.refuse();
  CHECK(in_flight.refuses(1));
  in_flight.let_go(4);
  CHECK_FALSE(watch.is_stuck());
  CHECK_FALSE(in_flight.refuses(1));
  CHECK(in_flight.refuses(11));
  {
    const InFlight::Share some(in_flight, 4), more(in_flight, 1);
    CHECK(some.given());
    CHECK_FALSE(more.given());
  }
  CHECK(in_flight.bytes() == 6);
}

TEST_CASE("many inline transfers wait for room, and all succeed") {
  constexpr size_t Bytes4 = 4096;
  Small client(2 * Bytes4, Long_ms);
  const ObjectId user = client.new_user_event();
  Bytes all;
  for (uint8_t i = 0; i < 60; ++i) {
    const Bytes part = numbered(Bytes4, i);
    client.write_after(i == 0 ? user : 0, i * Bytes4, part);
    all.insert(all.end(), part.begin(), part.end());
  }
  std::vector<ObjectId> reads;
  for (uint64_t i = 0; i < 60; ++i) {
    wire::Read m;
    m.queue = client.queue;
    m.mem = client.buffer;
    m.event = client.new_id();
    m.part.origin[0] = i * Bytes4;
    m.part.region[0] = m.bytes = Bytes4;
    client.send(m);
    reads.push_back(m.event);
  }
  client.set_user_event(user, CL_COMPLETE);  // goes ahead of what waits
  for (size_t i = 0; i < reads.size(); ++i) {
    CHECK(client.completion(reads[i]).status == CL_COMPLETE);
    const std::lock_guard lock(client.mutex);
    const bool same = client.data[reads[i]] == Bytes(all.begin() + i * Bytes4, all.begin() + (i + 1) * Bytes4);
    CHECK(same);
  }
  CHECK(client.failures.empty());
  CHECK(client.finish(0) == CL_SUCCESS);
  CHECK(client.executor->counters().in_flight_bytes == 0);
}

TEST_CASE("inline transfers that wait for what the client has yet to do are refused, not for ever") {
  Small client(100, Short_ms);
  const ObjectId user = client.new_user_event();
  const Bytes ones(100, 1), twos(50, 2);
  const ObjectId first = client.write_after(user, 0, ones);
  const ObjectId second = client.write_after(0, 0, twos), third = client.write_after(0, 0, twos);
  CHECK(client.subscribed(second).status == CL_OUT_OF_HOST_MEMORY);
  CHECK(client.subscribed(third).status == CL_OUT_OF_HOST_MEMORY);
  client.set_user_event(user, CL_COMPLETE);
  CHECK(client.subscribed(first).status == CL_COMPLETE);
  client.write_after(0, 50, twos);
  Bytes expected(50, 1);
  expected.resize(100, 2);
  CHECK(client.read(client.queue, client.buffer, 0, 100) == expected);
}

TEST_CASE("a stream without room for its chunks leaves them in their slots until its turn") {
  Small client(1, Long_ms);
  const ObjectId user = client.new_user_event();
  const Bytes packed = numbered(12 * SlotBytes, 3);
  const wire::Write m = client.write_of(client.queue, user, 0, packed.size(), DataPath::Stream);
  client.send(m);
  client.put(m, packed, 0, 4);
  CHECK(client.credits.empty());
  client.set_user_event(user, CL_COMPLETE);
  client.put(m, packed, 4, 12);
  CHECK(client.subscribed(m.event).status == CL_COMPLETE);
  CHECK(client.content(client.queue, packed.size()) == packed);
}

TEST_CASE("chunks move on to ordinary memory when there is room again") {
  Small client(2 * SlotBytes, Long_ms);
  const ObjectId user = client.new_user_event(), other = client.new_user_event(), queue = client.new_queue(0);
  wire::Read read;  // holds all
  read.queue = queue;
  read.mem = client.buffer;
  read.event = client.new_id();
  read.part.region[0] = read.bytes = 2 * SlotBytes;
  read.waits = {other};
  client.send(read);
  const Bytes packed = numbered(6 * SlotBytes, 3);
  const wire::Write m = client.write_of(client.queue, user, 0, packed.size(), DataPath::Stream);
  client.send(m);
  client.put(m, packed, 0, 4);
  CHECK(client.credits.empty());
  client.set_user_event(other, CL_COMPLETE);
  client.put(m, packed, 4, 6);  // into slots that are free again
  client.set_user_event(user, CL_COMPLETE);
  CHECK(client.subscribed(m.event).status == CL_COMPLETE);
  CHECK(client.completion(read.event).status == CL_COMPLETE);
  CHECK(client.finish(0) == CL_SUCCESS);
  CHECK(client.executor->counters().in_flight_bytes == 0);
}

TEST_CASE("a stream that fills all slots and waits for what needs them is given up") {
  Small client(1, Short_ms);
  const ObjectId user = client.new_user_event(), other = client.new_queue(0);
  const Bytes ones(6 * SlotBytes, 1), twos = numbered(6 * SlotBytes, 2);
  const wire::Write first = client.write_of(client.queue, user, 0, ones.size(), DataPath::Stream);
  client.send(first);
  client.put(first, ones, 0, 4);
  const wire::Write second = client.write_of(other, 0, 0, twos.size(), DataPath::Stream);
  client.stream(second, 1, twos, client.surveyed);
  CHECK(client.subscribed(second.event).status == CL_COMPLETE);
  CHECK(client.subscribed(first.event).status < 0);
  client.put(first, ones, 4, 6);  // it takes its chunks all the same
  client.set_user_event(user, CL_COMPLETE);
  CHECK(client.content(other, twos.size()) == twos);
  CHECK(client.wait_until([&] { return client.credits.size() == 4; }));
}

}  // namespace
}  // namespace gt::exec
