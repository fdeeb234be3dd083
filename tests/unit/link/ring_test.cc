// Rings in shared memory: order, wrapping, and a peer that scribbles on them. Streams that are sent again.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "transport/link/base/out_stream.h"
#include "transport/link/node/ring.h"

namespace gt::wire {
namespace {

struct Ring {
  RingShown shown;
  std::vector<uint8_t> data = std::vector<uint8_t>(1024);
  RingWriter out{shown, data.data(), data.size()};
  RingReader in{shown, data.data(), data.size()};
};

TEST_CASE("records come out as they went in, also around the end") {
  Ring r;
  std::mt19937 random(1);
  for (uint32_t i = 0; i < 1000; ++i) {
    const Bytes a(random() % 300, static_cast<uint8_t>(i)), b(random() % 300, static_cast<uint8_t>(i + 1));
    REQUIRE(*r.out.has_room(a.size() + b.size()));
    const ByteView parts[] = {a, b};
    r.out.put(i, parts);
    CHECK(r.in.seems_empty());
    r.out.show();
    RecordHeader header;
    REQUIRE(*r.in.next(header));
    CHECK(header.kind == i);
    REQUIRE(header.bytes == a.size() + b.size());
    Bytes out(header.bytes);
    r.in.copy_out(out.data(), out.size());
    r.in.done(header);
    CHECK(std::equal(a.begin(), a.end(), out.begin()));
    CHECK(std::equal(b.rbegin(), b.rend(), out.rbegin()));
  }
  CHECK_FALSE(*r.out.has_room(1017));
  CHECK(*r.out.has_room(1016));
}

TEST_CASE("a record may be empty") {
  Ring r;
  r.out.put(7, {});
  r.out.show();
  RecordHeader header;
  REQUIRE(*r.in.next(header));
  CHECK(header.bytes == 0);
  r.in.copy_out(nullptr, 0);
  r.in.done(header);
  CHECK(r.in.seems_empty());
}

TEST_CASE("wrong positions and lengths of the peer are noticed") {
  RecordHeader header;
  SUBCASE("a tail beyond the ring") {
    Ring r;
    r.shown.tail = 1025;
    CHECK(r.in.next(header).status().kind() == Kind::Corrupt);
  }
  SUBCASE("half a header") {
    Ring r;
    r.shown.tail = 7;
    CHECK(r.in.next(header).status().kind() == Kind::Corrupt);
  }
  SUBCASE("a record longer than what is there") {
    Ring r;
    r.data[0] = 9;  // bytes
    r.shown.tail = 16;
    CHECK(r.in.next(header).status().kind() == Kind::Corrupt);
  }
  SUBCASE("a head that was never reached, or that goes back") {
    Ring r;
    r.shown.head = 8;
    CHECK(r.out.consumed().status().kind() == Kind::Corrupt);
    Ring s;
    s.out.put(1, {});
    s.shown.head = 8;
    CHECK(*s.out.consumed() == 8);
    s.shown.head = 0;
    CHECK(s.out.consumed().status().kind() == Kind::Corrupt);
  }
}

TEST_CASE("a stream can be sent again from any byte that is not acknowledged") {
  std::mt19937 random(3);
  OutStream out;
  Bytes all, arrived;
  std::deque<Bytes> referred;
  const auto receive = [&](size_t most) {
    iovec parts[8];
    size_t n = 0;
    for (size_t i = 0, count = out.unwritten(parts); i < count && n < most; ++i) {
      const size_t take = std::min(parts[i].iov_len, most - n);
      const auto* p = static_cast<const uint8_t*>(parts[i].iov_base);
      arrived.insert(arrived.end(), p, p + take);
      n += take;
    }
    out.wrote(n);
  };
  for (int i = 0; i < 5000; ++i) {
    const auto what = random() % 10;
    if (what < 5) {
      Bytes piece(random() % 2000);
      for (uint8_t& b : piece) b = static_cast<uint8_t>(random());
      all.insert(all.end(), piece.begin(), piece.end());
      if (what < 3) {
        out.copy(piece);
      } else {
        referred.push_back(piece);
        out.refer(referred.back().data(), referred.back().size());
        if (what == 4 && !piece.empty()) {  // its memory goes away
          out.keep(referred.back().data(), referred.back().size());
          std::fill(referred.back().begin(), referred.back().end(), uint8_t{0});
        }
      }
    } else if (what < 8) {
      receive(random() % 5000);
    } else if (what < 9) {
      REQUIRE(out.acknowledge(out.acknowledged() + random() % (out.written() - out.acknowledged() + 1)));
    } else {
      const uint64_t back = out.acknowledged() + random() % (out.written() - out.acknowledged() + 1);
      REQUIRE(out.rewind(back));
      arrived.resize(back);
    }
  }
  while (!out.all_written()) receive(1 << 20);
  CHECK(arrived == all);
  CHECK_FALSE(out.acknowledge(out.end() + 1));
  CHECK_FALSE(out.rewind(out.end() + 1));
  REQUIRE(out.acknowledge(out.end()));
  CHECK_FALSE(out.rewind(out.end() - 1));
}

}  // namespace
}  // namespace gt::wire
