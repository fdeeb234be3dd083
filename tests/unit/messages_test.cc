// Messages survive the way to bytes and back; damaged bytes are refused or read as something else, never past the end.
#include <doctest/doctest.h>

#include "transport/protocol/codec.h"
#include "transport/protocol/messages.h"

namespace gt::wire {
namespace {

Launch example() {
  Launch m;
  m.queue = 7;
  m.kernel = uint64_t{1} << 63;
  m.dimensions = 3;
  m.global = {4, 5, 6};
  m.waits = {1, 2, 3};
  m.args.resize(2);
  m.args[0].value = as_bytes("abc");
  m.args[1].form = KernelArg::Form::Object;
  m.args[1].object = 99;
  return m;
}

TEST_CASE("a message comes back as it was") {
  Bytes bytes;
  encode(example(), bytes);
  CHECK(bytes[0] == static_cast<uint8_t>(MessageType::Launch));
  Launch m;
  REQUIRE(decode(bytes, m));
  CHECK(m.queue == 7);
  CHECK(m.kernel == uint64_t{1} << 63);
  CHECK(m.global == std::array<uint64_t, 3>{4, 5, 6});
  CHECK(m.waits == Ids{1, 2, 3});
  REQUIRE(m.args.size() == 2);
  CHECK(as_text(m.args[0].value) == "abc");
  CHECK(m.args[1].object == 99);
}

TEST_CASE("fields that a later version appends are passed over") {
  Bytes bytes;
  encode(example(), bytes);
  bytes.push_back(1);
  Launch m;
  CHECK(decode(bytes, m));
}

TEST_CASE("fields that were appended need not come, but come whole") {
  Build build;
  build.program = 3;
  build.options = "-w";
  build.how = Build::Options::None;
  Surveyed surveyed;
  surveyed.reply = 4;
  surveyed.functions = {{FirstSurveyed, {7, 8}}};
  surveyed.types = {{FirstSurveyed, -1, -31, -1}};
  surveyed.chunks = {5, 6, 7, 8};
  Bytes built, told;
  encode(build, built);
  encode(surveyed, told);
  Build whole;
  REQUIRE(decode(built, whole));
  CHECK(whole.how == Build::Options::None);
  Surveyed all;
  REQUIRE(decode(told, all));
  REQUIRE(all.functions.size() == 1);
  CHECK(all.functions[0].functions == std::vector<uint16_t>{7, 8});
  REQUIRE(all.types.size() == 1);
  CHECK(all.types[0].unknown == -31);
  CHECK(all.chunks.forms == 8);
  // As they were before.
  const size_t functions = sizeof(uint32_t) + sizeof(ObjectId) + sizeof(uint32_t) + 2 * sizeof(uint16_t);
  const size_t types = sizeof(uint32_t) + sizeof(ObjectId) + 3 * sizeof(int32_t);
  const size_t chunks = 4 * sizeof(uint32_t);
  CHECK(decode(ByteView(built).first(built.size() - 1), whole));
  CHECK(whole.how == Build::Options::Adapted);
  CHECK(whole.options == "-w");
  CHECK(decode(ByteView(told).first(told.size() - chunks), all));
  CHECK(all.chunks.piece_bytes == 0);
  CHECK(all.types.size() == 1);
  CHECK(decode(ByteView(told).first(told.size() - chunks - types), all));
  CHECK(all.types.empty());
  CHECK(all.functions.size() == 1);
  CHECK(decode(ByteView(told).first(told.size() - chunks - types - functions), all));
  CHECK(all.functions.empty());
  CHECK(all.reply == 4);
  for (size_t n = 1; n < chunks + types + functions; ++n) {
    if (n != chunks && n != chunks + types) CHECK_FALSE(decode(ByteView(told).first(told.size() - n), all));
  }
}

TEST_CASE("every truncation is refused") {
  Bytes bytes;
  encode(example(), bytes);
  for (size_t n = 1; n < bytes.size(); ++n) {
    Launch m;
    CHECK_FALSE(decode(ByteView(bytes).first(n), m));
  }
}

TEST_CASE("a list cannot be longer than the frame") {
  Bytes bytes;
  encode(Credit{{1, 2}}, bytes);
  bytes[1] = bytes[2] = bytes[3] = bytes[4] = 0xff;
  Credit m;
  CHECK_FALSE(decode(bytes, m));
  CHECK(m.slots.capacity() < 100);
}

}  // namespace
}  // namespace gt::wire
