// Regions: where they end, against arithmetic of 128 bits; chunks, which cover a region once; rows packed and unpacked;
// the command that a region means.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "transport/copy/chunks.h"
#include "transport/copy/command.h"
#include "transport/copy/packed.h"

namespace gt::copy {
namespace {

using Shape = Region::Shape;
using Random = std::mt19937_64;
using Wide = unsigned __int128;

// Small numbers, those around powers of two, and any.
uint64_t hostile(Random& r) {
  switch (r() % 4) {
    case 0: return r() % 8;
    case 1: return (uint64_t{1} << r() % 64) + r() % 3 - 1;
    case 2: return ~uint64_t{0} - r() % 3;
    default: return r() >> r() % 64;
  }
}

Region hostile_box(Random& r) {
  const size_t origin[3] = {hostile(r), hostile(r), hostile(r)}, region[3] = {hostile(r), hostile(r), hostile(r)};
  return box(origin, region, r() % 2 ? hostile(r) : 0, r() % 2 ? hostile(r) : 0);
}

// Sums of some of these fit.
Wide product(uint64_t a, uint64_t b) { return std::min(Wide{a} * b, Wide{1} << 100); }

bool is_empty(const Region& r) { return r.region[0] == 0 || r.region[1] == 0 || r.region[2] == 0; }

TEST_CASE("where a box lies is what arithmetic of 128 bits says, or not known") {
  Random random(1);
  int known = 0, sound = 0;
  for (int i = 0; i < 200'000; ++i) {
    Region r = hostile_box(random);
    if (i % 2)  // more that fit
      for (int side = 0; side < 3; ++side) r.origin[side] %= 100, r.region[side] = r.region[side] % 100 + 1;
    const Wide begin = Wide{r.origin[0]} + product(r.origin[1], r.row_pitch) + product(r.origin[2], r.slice_pitch);
    const Wide length = is_empty(r) ? Wide{0}
                                    : product(r.region[2] - 1, r.slice_pitch) + product(r.region[1] - 1, r.row_pitch) +
                                          r.region[0];
    const Bounds b = bounds(r);
    REQUIRE(b.known == (begin + length <= ~uint64_t{0}));
    const bool holds = r.row_pitch >= r.region[0] && product(r.row_pitch, r.region[1]) <= r.slice_pitch;
    REQUIRE(b.sound == (b.known && holds));
    if (!b.known) continue;
    REQUIRE(b.begin == static_cast<uint64_t>(begin));
    REQUIRE(b.end == static_cast<uint64_t>(begin + length));
    CHECK(b.within(b.end) == b.sound);
    if (b.end > 0) CHECK_FALSE(b.within(b.end - 1));
    if (b.sound && !is_empty(r)) CHECK(layout(r, b).extent() == b.end);
    ++known;
    sound += b.sound;
  }
  CHECK(known > 10'000);
  CHECK(sound > 10'000);
}

TEST_CASE("where a range ends, and how many bytes a region packs, too") {
  Random random(2);
  for (int i = 0; i < 100'000; ++i) {
    const Region r = range(hostile(random), hostile(random));
    const Wide end = Wide{r.origin[0]} + r.region[0];
    const Bounds b = bounds(r);
    CHECK(b.sound == (end <= ~uint64_t{0}));
    if (b.sound) CHECK(b.end == static_cast<uint64_t>(end));
    const Region any = hostile_box(random);
    const uint64_t element = hostile(random) % 20;
    const Wide row = product(any.region[0], element);
    const bool fits = row >> 63 == 0 && product(static_cast<uint64_t>(row), any.region[1]) >> 63 == 0 &&
                      product(static_cast<uint64_t>(row) * any.region[1], any.region[2]) >> 63 == 0;
    const bool nothing = is_empty(any) || element == 0;
    if (nothing || fits)
      CHECK(packed_bytes(any, element) == element * any.region[0] * any.region[1] * any.region[2]);
    else
      CHECK(packed_bytes(any, element) == 0);
  }
}

// Every byte of the region in the memory that it counts from, or element of an image of 64 x 64, in order.
std::vector<uint64_t> places(const Region& r) {
  std::vector<uint64_t> all;
  const bool box = r.shape == Shape::Box;
  const uint64_t row = box ? r.row_pitch : 64, slice = box ? r.slice_pitch : 64 * 64;
  const uint64_t rows = r.is_range() ? 1 : r.region[1], slices = r.is_range() ? 1 : r.region[2];
  for (uint64_t z = 0; z < slices; ++z)
    for (uint64_t y = 0; y < rows; ++y)
      for (uint64_t x = 0; x < r.region[0]; ++x)
        all.push_back(r.origin[0] + x + (r.origin[1] + y) * row + (r.origin[2] + z) * slice);
  return all;
}

Region small_region(Random& r, Shape shape) {
  const size_t origin[3] = {r() % 9, r() % 5, r() % 3}, region[3] = {r() % 30 + 1, r() % 6 + 1, r() % 4 + 1};
  if (shape == Shape::Image) return image(origin, region);
  if (shape != Shape::Box) return {.shape = shape, .origin = {origin[0], 7, 7}, .region = {region[0], 3, 0}};
  const size_t row = region[0] + r() % 4;
  return box(origin, region, row, row * (region[1] + r() % 3));
}

TEST_CASE("chunks cover a region once, in order, and none is larger than it may be") {
  Random random(3);
  for (int i = 0; i < 20'000; ++i) {
    const Shape shape{static_cast<uint8_t>(random() % 4)};
    const Region whole = small_region(random, shape);
    const uint64_t element = shape == Shape::Image ? random() % 16 + 1 : 1, largest = element + random() % 700;
    const Chunks chunks(whole, element, largest);
    REQUIRE(chunks.valid());
    REQUIRE(chunks.bytes() == packed_bytes(whole, element));
    REQUIRE((chunks.count() == 1) == (chunks.bytes() <= largest));
    std::vector<uint64_t> covered;
    uint64_t offset = 0;
    for (uint64_t n = 0; n < chunks.count(); ++n) {
      const Chunks::Chunk chunk = chunks.at(n);
      const std::vector<uint64_t> here = places(chunk.part);
      REQUIRE(chunk.offset == offset);
      REQUIRE(chunk.bytes == here.size() * element);
      REQUIRE(chunk.bytes <= largest);
      offset += chunk.bytes;
      covered.insert(covered.end(), here.begin(), here.end());
    }
    REQUIRE(covered == places(whole));
  }
}

TEST_CASE("what is empty, or larger than it can be, has no chunks") {
  CHECK_FALSE(Chunks(range(5, 0), 1, 10).valid());
  CHECK(Chunks(range(5, 0), 1, 10).count() == 0);
  CHECK_FALSE(Chunks(range(0, uint64_t{1} << 63), 1, 10).valid());
  CHECK_FALSE(Chunks(range(0, 10), 8, 7).valid());
  CHECK_FALSE(Chunks({.shape = Shape::Image, .region = {1 << 30, 1 << 30, 1 << 30}}, 4, 100).valid());
}

TEST_CASE("regions that have a byte in common meet") {
  Random random(4);
  int met = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Shape shape{static_cast<uint8_t>(random() % 3)};
    Region a = small_region(random, shape), b = a;
    for (int side = 0; side < (a.is_range() ? 1 : 3); ++side) b.origin[side] = random() % 9;
    std::vector<uint64_t> common, first = places(a), second = places(b);
    std::sort(first.begin(), first.end());
    std::sort(second.begin(), second.end());
    std::set_intersection(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(common));
    const bool does = meet(a, b);
    REQUIRE(does == meet(b, a));
    if (!common.empty()) REQUIRE(does);
    // The specification's test takes boxes apart that do not reach around the end of a row or slice.
    const auto reaches = [&](const Region& r) {
      return shape == Shape::Box &&
             (r.origin[0] + r.region[0] > r.row_pitch || r.origin[1] + r.region[1] > r.slice_pitch / r.row_pitch);
    };
    if (!reaches(a) && !reaches(b)) REQUIRE(does == !common.empty());
    met += does;
  }
  CHECK(met > 1000);
}

TEST_CASE("a box is packed and unpacked row by row") {
  std::vector<uint8_t> host(200);
  std::iota(host.begin(), host.end(), uint8_t{0});
  const Layout box{5, 3, 2, 2, 10, 50};
  CHECK(packed_bytes(box) == 12);
  CHECK_FALSE(box.dense());
  std::vector<uint8_t> packed(12);
  pack(packed.data(), host.data(), box);
  CHECK(packed == std::vector<uint8_t>{5, 6, 7, 15, 16, 17, 55, 56, 57, 65, 66, 67});
  std::vector<uint8_t> back(200);
  unpack(back.data(), packed.data(), box);
  for (size_t i = 0; i < back.size(); ++i) {
    const bool in = std::find(packed.begin(), packed.end(), i) != packed.end();
    CHECK(back[i] == (in ? i : 0));
  }
}

// --- Commands: what the driver was called with ---

struct Called {
  const char* function = "";
  std::vector<size_t> numbers;
  const void *to = nullptr, *from = nullptr;
  cl_bool blocking = CL_FALSE;
  cl_uint waits = 0;
};
Called called;

std::vector<size_t> list(const size_t* a, const size_t* b, std::initializer_list<size_t> more) {
  std::vector<size_t> all(a, a + 3);
  all.insert(all.end(), b, b + 3);
  all.insert(all.end(), more);
  return all;
}

ClFunctions functions() {
  ClFunctions f;
  f.clEnqueueWriteBuffer = [](cl_command_queue, cl_mem m, cl_bool blocking, size_t offset, size_t n, const void* p,
                              cl_uint waits, const cl_event* events, cl_event*) {
    CHECK((waits == 0) == (events == nullptr));
    called = {"WriteBuffer", {offset, n}, m, p, blocking, waits};
    return CL_SUCCESS;
  };
  f.clEnqueueReadBuffer = [](cl_command_queue, cl_mem m, cl_bool blocking, size_t offset, size_t n, void* p,
                             cl_uint waits, const cl_event*, cl_event*) {
    called = {"ReadBuffer", {offset, n}, p, m, blocking, waits};
    return CL_SUCCESS;
  };
  f.clEnqueueWriteBufferRect = [](cl_command_queue, cl_mem m, cl_bool blocking, const size_t* o, const size_t* ho,
                                  const size_t* r, size_t mr, size_t ms, size_t hr, size_t hs, const void* p, cl_uint,
                                  const cl_event*, cl_event*) {
    CHECK(ho[0] + ho[1] + ho[2] == 0);
    called = {"WriteBufferRect", list(o, r, {mr, ms, hr, hs}), m, p, blocking};
    return CL_SUCCESS;
  };
  f.clEnqueueReadBufferRect = [](cl_command_queue, cl_mem m, cl_bool blocking, const size_t* o, const size_t*,
                                 const size_t* r, size_t mr, size_t ms, size_t hr, size_t hs, void* p, cl_uint,
                                 const cl_event*, cl_event*) {
    called = {"ReadBufferRect", list(o, r, {mr, ms, hr, hs}), p, m, blocking};
    return CL_SUCCESS;
  };
  f.clEnqueueWriteImage = [](cl_command_queue, cl_mem m, cl_bool blocking, const size_t* o, const size_t* r, size_t hr,
                             size_t hs, const void* p, cl_uint, const cl_event*, cl_event*) {
    called = {"WriteImage", list(o, r, {hr, hs}), m, p, blocking};
    return CL_SUCCESS;
  };
  f.clEnqueueReadImage = [](cl_command_queue, cl_mem m, cl_bool blocking, const size_t* o, const size_t* r, size_t hr,
                            size_t hs, void* p, cl_uint, const cl_event*, cl_event*) {
    called = {"ReadImage", list(o, r, {hr, hs}), p, m, blocking};
    return CL_SUCCESS;
  };
  f.clEnqueueSVMMemcpy = [](cl_command_queue, cl_bool blocking, void* to, const void* from, size_t n, cl_uint,
                            const cl_event*, cl_event*) {
    called = {"SVMMemcpy", {n}, to, from, blocking};
    return CL_SUCCESS;
  };
  return f;
}

TEST_CASE("a region and a way are a command") {
  const ClFunctions cl = functions();
  char host[4], shared[64];
  const auto mem = reinterpret_cast<cl_mem>(shared);
  const size_t origin[3] = {1, 2, 3}, region[3] = {4, 5, 6};
  const auto run = [&](Way way, const Region& r, const Ends& ends) {
    CHECK(enqueue(cl, nullptr, way, CL_TRUE, ends, r, {}, nullptr) == CL_SUCCESS);
    CHECK(called.blocking == CL_TRUE);
    const bool up = way == Way::ToDevice;
    CHECK((up ? called.from : called.to) == host);
    if (!ends.svm) CHECK((up ? called.to : called.from) == mem);
    return std::string(called.function);
  };
  const Ends packed{.mem = mem, .host = host};
  const Ends spread{.mem = mem, .host = host, .host_row_pitch = 10, .host_slice_pitch = 100};
  const Ends there{.svm = shared, .host = host};
  const auto both = [&](const Region& r, const Ends& ends) {
    const std::string names = run(Way::ToHost, r, ends);
    return names + " " + run(Way::ToDevice, r, ends);
  };
  using Numbers = std::vector<size_t>;
  CHECK(both(range(7, 8), packed) == "ReadBuffer WriteBuffer");
  CHECK(called.numbers == Numbers{7, 8});
  CHECK(both(box(origin, region, 40, 400), spread) == "ReadBufferRect WriteBufferRect");
  CHECK(called.numbers == Numbers{1, 2, 3, 4, 5, 6, 40, 400, 10, 100});
  CHECK(both(box(origin, region, 0, 0), packed) == "ReadBufferRect WriteBufferRect");
  CHECK(called.numbers == Numbers{1, 2, 3, 4, 5, 6, 4, 20, 4, 20});
  CHECK(both(image(origin, region), packed) == "ReadImage WriteImage");
  CHECK(called.numbers == Numbers{1, 2, 3, 4, 5, 6, 0, 0});
  CHECK(both(image(origin, region), spread) == "ReadImage WriteImage");
  CHECK(called.numbers == Numbers{1, 2, 3, 4, 5, 6, 10, 100});
  Region flat = image(origin, region);
  flat.region[2] = 1;
  both(flat, spread);
  CHECK(called.numbers == Numbers{1, 2, 3, 4, 5, 1, 10, 0});
  CHECK(both(range(7, 8), there) == "SVMMemcpy SVMMemcpy");
  CHECK(called.to == shared + 7);
  CHECK(called.numbers == Numbers{8});
}

TEST_CASE("a command waits for what it is given") {
  const ClFunctions cl = functions();
  const cl_event events[2] = {};
  char host[4];
  CHECK(enqueue(cl, nullptr, Way::ToDevice, CL_FALSE, {.host = host}, range(0, 4), events, nullptr) == CL_SUCCESS);
  CHECK(called.waits == 2);
  CHECK(called.blocking == CL_FALSE);
}

}  // namespace
}  // namespace gt::copy
