// K-means of a stream: points arrive in batches, are sent, and the cluster of each point comes back; the host moves the
// centres by a sample of the batch and sends them with the next one.
//
// The transfers' memory comes from a pool of the program's own: one large malloc, cut into pieces.
#include <algorithm>
#include <cmath>
#include <vector>

#include "microbench/apps/session.h"

namespace gt::apps {
namespace {

constexpr size_t Features = 16, Clusters = 8, Sample = 1024;
constexpr const char* Source = R"(
kernel void assign(global const float16* point, constant float16* centre, global int* cluster) {
  const uint i = get_global_id(0);
  float least = INFINITY;
  int nearest = 0;
  for (int k = 0; k < 8; ++k) {
    const float16 d = point[i] - centre[k], s = d * d;
    const float8 a = s.lo + s.hi;
    const float4 b = a.lo + a.hi;
    const float sum = b.x + b.y + b.z + b.w;
    if (sum < least) {
      least = sum;
      nearest = k;
    }
  }
  cluster[i] = nearest;
}
)";

struct Settings : Common {
  int64_t points = 1 << 15;
};
struct Point {
  float at[Features];
};
using Centres = std::vector<Point>;

// Hands out pieces of one block, in order; everything is given back at once.
class Pool {
 public:
  Pool(Session& session, size_t bytes) : session_(session), bytes_(bytes), block_(session.memory(bytes, allocate)) {}
  ~Pool() { session_.give_back(block_, free_memory<char>); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  template <class T>
  T* take(size_t count) {
    const size_t from = used_;
    used_ = (used_ + count * sizeof(T) + 63) & ~size_t{63};
    check_memory(used_ <= bytes_ ? block_ : nullptr, count * sizeof(T));
    return reinterpret_cast<T*>(block_ + from);
  }

 private:
  [[gnu::noinline]] static char* allocate(size_t bytes) {
    return checked<char>(std::aligned_alloc(64, (bytes + 63) & ~size_t{63}), bytes);
  }
  Session& session_;
  size_t bytes_, used_ = 0;
  char* block_;
};

double distance(const Point& a, const Point& b) {
  double sum = 0;
  for (size_t f = 0; f < Features; ++f) {
    const double d = double{a.at[f]} - double{b.at[f]};
    sum += d * d;
  }
  return sum;
}

class Clusterer {
 public:
  Clusterer(Session& session, size_t points) : session_(session), n_(points), kernel_(session.kernel("assign")) {
    points_ = session.buffer(CL_MEM_READ_ONLY, n_ * sizeof(Point));
    centres_ = session.buffer(CL_MEM_READ_ONLY, Clusters * sizeof(Point));
    clusters_ = session.buffer(CL_MEM_WRITE_ONLY, n_ * sizeof(int32_t));
    set_args(kernel_, points_, centres_, clusters_);
  }
  void assign(const Point* points, const Centres& centres, int32_t* clusters) {
    session_.write(centres_, centres.data(), Clusters * sizeof(Point), CL_FALSE);
    session_.write(points_, points, n_ * sizeof(Point), CL_FALSE);
    session_.launch(kernel_, {n_});
    session_.read(clusters_, clusters, n_ * sizeof(int32_t));
  }

 private:
  Session& session_;
  size_t n_;
  cl_kernel kernel_;
  cl_mem points_, centres_, clusters_;
};

// Each centre goes a tenth of the way to the mean of its points in the sample, which differs from batch to batch.
void move(Centres& centres, const Point* points, const int32_t* clusters, size_t n, int64_t batch) {
  std::vector<Point> sum(Clusters, Point{});
  std::vector<float> count(Clusters, 0.0f);
  const size_t stride = std::max<size_t>(1, n / Sample);
  for (size_t i = static_cast<size_t>(batch) % stride; i < n; i += stride) {
    const auto k = static_cast<size_t>(clusters[i]) % Clusters;
    for (size_t f = 0; f < Features; ++f) sum[k].at[f] += points[i].at[f];
    count[k] += 1;
  }
  for (size_t k = 0; k < Clusters; ++k)
    for (size_t f = 0; count[k] > 0 && f < Features; ++f)
      centres[k].at[f] += (sum[k].at[f] / count[k] - centres[k].at[f]) / 10;
}

// No centre may be nearer to a point than the one that was chosen for it.
bool verify(const Point* points, const int32_t* clusters, size_t n, const Centres& centres) {
  const size_t stride = std::max<size_t>(1, n / (1 << 16));
  for (size_t i = 0; i < n; i += stride) {
    if (clusters[i] < 0 || clusters[i] >= static_cast<int32_t>(Clusters)) return false;
    const double chosen = distance(points[i], centres[static_cast<size_t>(clusters[i])]);
    for (const Point& c : centres)
      if (!(chosen <= distance(points[i], c) * (1 + 1e-5))) return false;
  }
  return true;
}

// Points around as many places as there are clusters.
void fill(Point* points, size_t n) {
  Random random(31);
  for (size_t i = 0; i < n; ++i) {
    const uint32_t place = random.below(Clusters);
    for (size_t f = 0; f < Features; ++f)
      points[i].at[f] = static_cast<float>((place * 7 + f * 3) % 11) + random.unit() * 4;
  }
}

int run(const Settings& s) {
  const size_t n = static_cast<size_t>(s.points);
  Session session(Source, s.hand_pinned);
  Clusterer clusterer(session, n);
  Pool pool(session, n * (sizeof(Point) + sizeof(int32_t)) + 128);
  auto* points = pool.take<Point>(n);
  auto* clusters = pool.take<int32_t>(n);
  fill(points, n);
  Centres centres(Clusters), used;
  for (size_t k = 0; k < Clusters; ++k) centres[k] = points[k * (n - 1) / Clusters];

  const double start = now_s();
  for (int64_t i = 0; i < s.iterations; ++i) {
    used = centres;
    clusterer.assign(points, centres, clusters);
    move(centres, points, clusters, n, i);
  }
  const double seconds = now_s() - start;

  const bool correct = verify(points, clusters, n, used);
  const uint64_t sum = checksum_words(clusters, n * sizeof(int32_t)) ^
                       checksum_words(centres.data(), Clusters * sizeof(Point));
  return finish("kmeans", correct, sum, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {.name = "--points", .help = "points of a batch, of 16 numbers each", .number = &s.points, .small = 1 << 17,
       .large = 1 << 22, .least = 1, .most = 1 << 26},
      s.iterations_option(50, 80, "batches"), s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Sorts points into clusters on an OpenCL device and checks the result.", options);
  return gt::apps::run(s);
}
