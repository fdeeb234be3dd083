// Nearest neighbour: which of many places is closest to a query? Each request sends all places, and receives the
// distance of every one of them.
//
// One malloc for each array, kept for the whole run; blocking transfers; the host picks the nearest.
#include <cmath>

#include "microbench/apps/session.h"

namespace gt::apps {
namespace {

constexpr const char* Source = R"(
kernel void distances(global const float2* place, global float* distance, float x, float y) {
  const size_t i = get_global_id(0);
  const float dx = place[i].x - x, dy = place[i].y - y;
  distance[i] = sqrt(dx * dx + dy * dy);
}
)";

struct Settings : Common {
  int64_t places = 1 << 18;
};
struct Place {
  float x, y;
};

[[gnu::noinline]] Place* allocate_places(size_t n) { return checked<Place>(malloc(n * sizeof(Place)), n); }
[[gnu::noinline]] float* allocate_distances(size_t n) { return checked<float>(malloc(n * sizeof(float)), n); }

Place query_of(int64_t iteration) {
  Random random(static_cast<uint32_t>(iteration) + 7);
  random.next();
  const float x = random.unit();
  return {x, random.unit()};
}

// Every distance, and that the nearest place is where the host finds it.
bool verify(const Place* places, const float* distances, size_t n, Place query) {
  size_t nearest = 0, expected = 0;
  float least = INFINITY;
  for (size_t i = 0; i < n; ++i) {
    const float dx = places[i].x - query.x, dy = places[i].y - query.y;
    const float d = std::sqrt(dx * dx + dy * dy);
    if (!(std::fabs(d - distances[i]) <= 1e-5f)) return false;
    if (d < least) least = d, expected = i;
    if (distances[i] < distances[nearest]) nearest = i;
  }
  return distances[nearest] <= distances[expected];
}

int run(const Settings& s) {
  const size_t n = static_cast<size_t>(s.places);
  Session session(Source, s.hand_pinned);
  cl_kernel kernel = session.kernel("distances");
  cl_mem d_places = session.buffer(CL_MEM_READ_ONLY, n * sizeof(Place));
  cl_mem d_distances = session.buffer(CL_MEM_WRITE_ONLY, n * sizeof(float));
  Place* places = session.memory(n, allocate_places);
  float* distances = session.memory(n, allocate_distances);
  Random random(1);
  for (size_t i = 0; i < n; ++i) places[i].x = random.unit(), places[i].y = random.unit();

  const double start = now_s();
  for (int64_t i = 0; i < s.iterations; ++i) {
    const Place query = query_of(i);
    session.write(d_places, places, n * sizeof(Place));
    set_args(kernel, d_places, d_distances, query.x, query.y);
    session.launch(kernel, {n});
    session.read(d_distances, distances, n * sizeof(float));
  }
  const double seconds = now_s() - start;

  const bool correct = verify(places, distances, n, query_of(s.iterations - 1));
  const uint64_t sum = checksum({distances, n});
  session.give_back(places, free_memory);
  session.give_back(distances, free_memory);
  return finish("nn", correct, sum, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {.name = "--places", .help = "places to search", .number = &s.places, .small = 1 << 19, .large = 1 << 24,
       .least = 1, .most = 1 << 28},
      s.iterations_option(200, 120, "queries"), s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Finds the place nearest to a query on an OpenCL device and checks the result.",
                  options);
  return gt::apps::run(s);
}
