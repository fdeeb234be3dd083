// Moves between two devices: what arrives, whatever call is refused; what is let go of.
#include "tests/unit/moves_simulation.h"

namespace gt::moves {
namespace {

std::vector<char> pattern(size_t bytes) {
  std::vector<char> p(bytes);
  uint32_t seed = static_cast<uint32_t>(bytes) + 1;
  for (char& c : p) c = static_cast<char>((seed = seed * 1664525u + 1013904223u) >> 24);
  return p;
}

const cuda::Functions* no_cuda() { return nullptr; }

struct Two {
  explicit Two(NativeMoves::PeerOptions peers = {no_cuda, 0})
      : moves({cl, fake::any_context(), fake::device(0)}, {cl, fake::any_context(), fake::device(1)}, peers) {}
  ClFunctions cl = functions();
  NativeMoves moves;
  cl_int move(std::vector<char>& from, std::vector<char>& to) {
    copy::Region all;
    all.region = {from.size(), 1, 1};
    return move(from, to, all, 1);
  }
  cl_int move(std::vector<char>& from, std::vector<char>& to, const copy::Region& part, size_t element) {
    const HostBuffer a(from), b(to);
    if (part.shape == copy::Region::Shape::Image)
      for (const cl_mem mem : {a.mem, b.mem})
        fake::make_image(mem, part.region[0], part.region[1], part.region[2], element);
    return moves.move(a.mem, b.mem, part, element).code;
  }
};

TEST_CASE("what arrives is what was there, byte by byte") {
  start_anew();
  {
    Two two;
    for (size_t bytes : {size_t{1}, MiB, MiB + 1, 4 * MiB, 4 * MiB + 1, 9 * MiB + 7, 33 * MiB, 70 * MiB + 3}) {
      CAPTURE(bytes);
      std::vector<char> from = pattern(bytes), to(bytes);
      CHECK(two.move(from, to) == CL_SUCCESS);
      CHECK(to == from);
    }
    CHECK(_cl_mem::alive == 4);  // two rings, each in both contexts
  }
  CHECK(fake::alive() == 0);
}

TEST_CASE("large moves are cut into chunks, small ones are not; reads go ahead") {
  const auto shape = [](size_t bytes) {
    start_anew();
    Two two;
    std::vector<char> from(bytes), to(bytes);
    CHECK(two.move(from, to) == CL_SUCCESS);
    return std::pair(reads.largest, reads.most_waiting);
  };
  CHECK(shape(100).first == 100);
  CHECK(shape(MiB) == std::pair(MiB, size_t{1}));
  CHECK(shape(4 * MiB) == std::pair(MiB, size_t{4}));
  CHECK(shape(12 * MiB) == std::pair(3 * MiB, size_t{4}));
  CHECK(shape(64 * MiB) == std::pair(4 * MiB, size_t{4}));
}

TEST_CASE("images: rows, slices, rows that are longer than a chunk") {
  constexpr size_t Shapes[][4] = {  // width, height, slices, bytes of an element
      {1, 1, 1, 4}, {7, 5, 3, 16}, {300, 400, 1, 4}, {1000, 700, 5, 4}, {3 * MiB, 2, 1, 1}, {257, 255, 99, 2}};
  for (const auto& [width, height, depth, element] : Shapes) {
    CAPTURE(width);
    start_anew();
    {
      Two two;
      copy::Region whole;
      whole.shape = copy::Region::Shape::Image;
      whole.region = {width, height, depth};
      std::vector<char> from = pattern(width * height * depth * element), to(from.size());
      CHECK(two.move(from, to, whole, element) == CL_SUCCESS);
      CHECK(to == from);
    }
    CHECK(fake::alive() == 0);
  }
}

TEST_CASE("whatever is refused: an error or the contents, and nothing is kept") {
  for (size_t bytes : {100 * KiB, 5 * MiB}) {
    int failed = 0;
    for (int call = 0;; ++call) {
      CAPTURE(call);
      start_anew();
      fake::refuse_at = call;
      std::vector<char> from = pattern(bytes), to(bytes);
      {
        Two two;
        const cl_int code = two.move(from, to);
        if (code == CL_SUCCESS) CHECK(to == from);
        if (code != CL_SUCCESS) {
          ++failed;
          CHECK(two.move(from, to) == CL_SUCCESS);  // the next one works
          CHECK(to == from);
        }
      }
      CHECK(fake::alive() == 0);
      if (fake::made_calls <= call) break;
    }
    CHECK(failed > 2);
  }
}

// --- From device to device ---

// From how many bytes on they go by themselves, when whoever looks for that has ended.
size_t found(Two& two) {
  for (int i = 0; i < 5000 && two.moves.peer_from() == 0 && !two.moves.has_looked(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return two.moves.peer_from();
}

// Moves until they go by themselves, or never will.
size_t settle(Two& two) {
  std::vector<char> from = pattern(100), to(100);
  CHECK(two.move(from, to) == CL_SUCCESS);
  return found(two);
}

void start_with_peers() {
  start_anew();
  reads.bus = std::chrono::milliseconds(10);  // so much slower than a fake copy of any size
}

TEST_CASE("where devices write to each other, contents go so after a trial, and all of them arrive") {
  start_with_peers();
  {
    Two two({fake::cuda_table, 0});
    REQUIRE(settle(two) == 64 * KiB);
    for (size_t bytes : {64 * KiB, MiB, 4 * MiB + 1, 9 * MiB + 7, 33 * MiB, 130 * MiB + 3}) {
      CAPTURE(bytes);
      const int before = gpu.copies;
      std::vector<char> from = pattern(bytes), to(bytes);
      CHECK(two.move(from, to) == CL_SUCCESS);
      CHECK(to == from);
      CHECK(gpu.copies > before);
    }
    const int before = gpu.copies;
    std::vector<char> from = pattern(100), to(100);
    CHECK(two.move(from, to) == CL_SUCCESS);
    CHECK(gpu.copies == before);
    copy::Region whole;
    whole.shape = copy::Region::Shape::Image;
    whole.region = {1000, 700, 5};
    from = pattern(size_t{1000} * 700 * 5 * 4);
    to.assign(from.size(), 0);
    CHECK(two.move(from, to, whole, 4) == CL_SUCCESS);
    CHECK(to == from);
    CHECK(gpu.copies > before);
  }
  CHECK(gpu.live == 0);
  CHECK(fake::alive() == 0);
}

TEST_CASE("not where what arrives is something else, where it is slower, where memory is short") {
  for (int why = 0; why < 3; ++why) {
    CAPTURE(why);
    start_with_peers();
    if (why == 0) gpu.mixes_up = true;
    if (why == 1) reads.bus = {}, gpu.copy_time = std::chrono::milliseconds(30);
    if (why == 2) gpu.free = 24;
    {
      Two two({fake::cuda_table, 0});
      CHECK(settle(two) == 0);
      const int before = gpu.copies;
      std::vector<char> from = pattern(4 * MiB), to(4 * MiB);
      CHECK(two.move(from, to) == CL_SUCCESS);
      CHECK(to == from);
      CHECK(gpu.copies == before);
    }
    CHECK(gpu.live == 0);
    CHECK(fake::alive() == 0);
  }
}

TEST_CASE("a way that gets slower than the other is left, and so is one that fails; no move is lost") {
  for (const bool fails : {false, true}) {
    CAPTURE(fails);
    start_with_peers();
    Two two({fake::cuda_table, 0});
    REQUIRE(settle(two) > 0);
    if (fails) gpu.refuse_at = gpu.calls + 1;  // a context is pushed, then the copy waited for
    else gpu.copy_time = std::chrono::milliseconds(200);
    for (int i = 0; i < 10; ++i) {
      std::vector<char> from = pattern(MiB + static_cast<size_t>(i)), to(from.size());
      CHECK(two.move(from, to) == CL_SUCCESS);
      CHECK(to == from);
    }
    CHECK(two.moves.peer_from() == 0);
    CHECK(gpu.live == 0);
  }
}

TEST_CASE("what was slower may have been so for a busy device: tried again, but not soon") {
  start_with_peers();
  gpu.copy_time = std::chrono::milliseconds(50);
  {
    Two two({fake::cuda_table, 0, 1});
    REQUIRE(settle(two) == 0);
    CHECK(gpu.live == 0);
    gpu.copy_time = {};
    const int tried = gpu.copies;
    std::vector<char> from = pattern(100), to(100);
    for (int i = 0; i < 20; ++i) CHECK(two.move(from, to) == CL_SUCCESS);
    CHECK(gpu.copies == tried);
    for (int i = 0; i < 2000 && two.moves.has_looked(); ++i) CHECK(two.move(from, to) == CL_SUCCESS);
    CHECK(found(two) > 0);
    CHECK(gpu.copies > tried);
    from = pattern(4 * MiB), to.assign(from.size(), 0);
    CHECK(two.move(from, to) == CL_SUCCESS);
    CHECK(to == from);
  }
  CHECK(gpu.live == 0);
  CHECK(fake::alive() == 0);
}

TEST_CASE("a way that was left as slower is tried again, too; peer-mapped allocations from before are as good") {
  start_with_peers();
  {
    Two two({fake::cuda_table, 0, 1});
    REQUIRE(settle(two) > 0);
    const auto from = two.moves.make_peer_mapped(NativeMoves::Side::From, MiB);
    const auto to = two.moves.make_peer_mapped(NativeMoves::Side::To, MiB);
    REQUIRE(from);
    REQUIRE(to);
    copy::Region all;
    all.region = {MiB, 1, 1};
    const NativeMoves::Held here(from->mem(), from.get()), there(to->mem(), to.get());
    gpu.copy_time = std::chrono::milliseconds(200);
    for (int i = 0; i < 20 && two.moves.peer_from() > 0; ++i) CHECK(two.moves.move(here, there, all, 1).code == 0);
    REQUIRE(two.moves.peer_from() == 0);
    CHECK(!two.moves.move(here, there, all, 1).by_devices);
    gpu.copy_time = {};
    std::vector<char> some = pattern(100), arrived(100);
    for (int i = 0; i < 2000 && two.moves.has_looked(); ++i) CHECK(two.move(some, arrived) == CL_SUCCESS);
    REQUIRE(found(two) > 0);
    const std::vector<char> put = pattern(MiB);
    std::copy(put.begin(), put.end(), bytes_of(from->mem()));
    CHECK(two.moves.move(here, there, all, 1).by_devices);
    CHECK(std::equal(put.begin(), put.end(), bytes_of(to->mem())));
  }
  CHECK(gpu.live == 0);
}

TEST_CASE("whatever CUDA or the import refuses: pinned memory, and nothing is kept") {
  start_with_peers();
  {
    Two two({fake::cuda_table, 0});
    REQUIRE(settle(two) > 0);
  }
  const int all = gpu.calls;
  REQUIRE(all > 15);
  for (int call = 0; call < std::min(all, 24); ++call) {
    CAPTURE(call);
    start_with_peers();
    reads.bus = std::chrono::milliseconds(1);
    gpu.refuse_at = call;
    {
      Two two({fake::cuda_table, 0});
      settle(two);
      std::vector<char> from = pattern(4 * MiB), to(4 * MiB);
      CHECK(two.move(from, to) == CL_SUCCESS);
      CHECK(to == from);
    }
    CHECK(gpu.live == 0);
    CHECK(fake::alive() == 0);
  }
}

// A buffer that lives in peer-mapped allocations on both devices.
using Side = NativeMoves::Side;
struct PeerMapped {
  PeerMapped(Two& two, size_t n)
      : bytes(n), from(two.moves.make_peer_mapped(Side::From, n)), to(two.moves.make_peer_mapped(Side::To, n)) {
    REQUIRE(from);
    REQUIRE(to);
    CHECK(from->taken() % (2 * MiB) == 0);
    CHECK(from->taken() >= n);
  }
  void put(const std::vector<char>& all) const { std::copy(all.begin(), all.end(), bytes_of(from->mem())); }
  std::vector<char> seen() const { return {bytes_of(to->mem()), bytes_of(to->mem()) + bytes}; }
  NativeMoves::Moved move(Two& two) const {
    copy::Region all;
    all.region = {bytes, 1, 1};
    return move(two, all);
  }
  NativeMoves::Moved move(Two& two, const copy::Region& part) const {
    return two.moves.move({from->mem(), from.get()}, {to->mem(), to.get()}, part, 1);
  }
  size_t bytes;
  std::shared_ptr<PeerMemory> from, to;
};

TEST_CASE("what is peer-mapped goes in one step, and what is refused arrives by another way") {
  start_with_peers();
  {
    Two two({fake::cuda_table, 0});
    CHECK(!two.moves.make_peer_mapped(Side::From, MiB));  // not yet
    REQUIRE(settle(two) > 0);
    for (const size_t bytes : {size_t{100}, MiB, 5 * MiB + 3}) {
      CAPTURE(bytes);
      PeerMapped mapped(two, bytes);
      const std::vector<char> put = pattern(bytes);
      mapped.put(put);
      const int calls = fake::made_calls, copies = gpu.copies;
      CHECK(mapped.move(two).by_devices);
      CHECK(mapped.seen() == put);
      CHECK(fake::made_calls == calls);  // nothing of OpenCL's
      CHECK(gpu.copies == copies + 1);
    }
    PeerMapped mapped(two, MiB);
    mapped.put(pattern(MiB));
    gpu.refuse_at = gpu.calls + 1;  // to let the source reach it: as any other buffer, by the slots
    const int calls = fake::made_calls;
    CHECK(mapped.move(two).by_devices);
    CHECK(mapped.seen() == pattern(MiB));
    CHECK(fake::made_calls > calls);
    CHECK(mapped.move(two).by_devices);
    mapped.put(pattern(MiB - 1));
    gpu.refuse_at = gpu.calls + 1;  // the copy
    const NativeMoves::Moved moved = mapped.move(two);
    CHECK(moved.code == CL_SUCCESS);
    CHECK(!moved.by_devices);
    CHECK(mapped.seen()[MiB / 2] == pattern(MiB - 1)[MiB / 2]);
    CHECK(!two.moves.make_peer_mapped(Side::From, MiB));  // not any more
    mapped.put(std::vector<char>(MiB, 'x'));
    CHECK(mapped.move(two).code == CL_SUCCESS);
    CHECK(mapped.seen() == std::vector<char>(MiB, 'x'));
  }
  CHECK(gpu.live == 0);
  CHECK(fake::alive() == 0);
}

TEST_CASE("what the driver still has of a peer-mapped allocation outlives it; a part of one moves alone") {
  start_with_peers();
  Two two({fake::cuda_table, 0});
  REQUIRE(settle(two) > 0);
  PeerMapped mapped(two, MiB);
  mapped.put(pattern(MiB));
  copy::Region part;
  part.origin = {1000, 0, 0};
  part.region = {5000, 1, 1};
  CHECK(mapped.move(two, part).by_devices);
  const std::vector<char> seen = mapped.seen(), there = pattern(MiB);
  CHECK(std::equal(seen.begin() + 1000, seen.begin() + 6000, there.begin() + 1000));
  CHECK(std::count(seen.begin(), seen.end(), 0) >= static_cast<long>(MiB - 5000));
}

TEST_CASE("into a peer-mapped allocation on the same device") {
  start_with_peers();
  Two two({fake::cuda_table, 0});
  REQUIRE(settle(two) > 0);
  PeerMapped mapped(two, MiB);
  std::vector<char> before = pattern(MiB);
  const HostBuffer host(before);
  CHECK(two.moves.copy_at_source(host.mem, mapped.from->mem(), MiB) == CL_SUCCESS);
  CHECK(mapped.move(two).by_devices);
  CHECK(mapped.seen() == before);
  fake::refuse_at = fake::made_calls.load();
  CHECK(two.moves.copy_at_source(host.mem, mapped.from->mem(), MiB) != CL_SUCCESS);
}

TEST_CASE("peer-mapped allocations are for buffers of some size, not too many, and not where memory is short") {
  start_with_peers();
  {
    Two two({fake::cuda_table, 0});
    REQUIRE(settle(two) > 0);
    CHECK(!two.moves.make_peer_mapped(Side::To, NativeMoves::LargestPeerMapped + 1));
    gpu.free = 24;
    CHECK(!two.moves.make_peer_mapped(Side::To, MiB));
    gpu.free = 100;
    std::vector<std::shared_ptr<PeerMemory>> many;
    while (const auto mapped = two.moves.make_peer_mapped(Side::To, 15 * MiB)) many.push_back(mapped);
    CHECK(many.size() == 16);  // 2 MiB are left of each 16
    CHECK(two.moves.make_peer_mapped(Side::From, 15 * MiB));
    many.pop_back();
    CHECK(two.moves.make_peer_mapped(Side::To, 15 * MiB));
  }
  CHECK(gpu.live == 0);
}

TEST_CASE("whatever is refused of a peer-mapped allocation: there is none, and nothing is kept") {
  start_with_peers();
  {
    Two two({fake::cuda_table, 0});
    REQUIRE(settle(two) > 0);
    const int before = gpu.live;
    const auto objects = fake::alive();
    for (int call = 0; call < 9; ++call) {
      CAPTURE(call);
      gpu.refuse_at = gpu.calls + call;
      fake::refuse_at = -1;
      std::shared_ptr<PeerMemory> mapped = two.moves.make_peer_mapped(Side::To, MiB);
      const bool refused = gpu.calls > gpu.refuse_at;
      CHECK((mapped == nullptr) == refused);
      if (call < 6) CHECK(refused);
      mapped.reset();
      CHECK(gpu.live == before);
      gpu.refuse_at = -1;
      fake::refuse_at = fake::made_calls.load();
      CHECK(!two.moves.make_peer_mapped(Side::To, MiB));  // by OpenCL
      CHECK(gpu.live == before);
      CHECK(fake::alive() == objects);
    }
  }
  CHECK(gpu.live == 0);
  CHECK(fake::alive() == 0);
}

}  // namespace
}  // namespace gt::moves
