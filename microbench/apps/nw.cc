// Needleman-Wunsch: global alignment of two sequences by dynamic programming. Tiles of the score matrix are computed
// along its diagonals, one launch for each; all similarities are sent, the whole score matrix is received.
//
// An ordinary function per alignment, called for several gap penalties: it mallocs the scores, and frees them when
// their last corner has been looked at.
#include <algorithm>
#include <vector>

#include "microbench/apps/session.h"

namespace gt::apps {
namespace {

constexpr size_t Tile = 32;
constexpr const char* Source = R"(
#define TILE 32
// score is (n + 1) x (n + 1); row 0 and column 0 are gaps only.
kernel void borders(global int* score, int n, int gap) {
  const int i = get_global_id(0);
  score[i] = -i * gap;
  score[(size_t)i * (n + 1)] = -i * gap;
}
// One work-group for each tile of the diagonal; one work-item for each column of the tile.
kernel void diagonal(global const int* similarity, global int* score, int n, int gap, int first, int sum) {
  local int tile[TILE + 1][TILE + 1];
  const int x = get_local_id(0);
  const int bx = first + get_group_id(0), by = sum - bx;
  const size_t width = n + 1;
  global int* corner = score + (size_t)by * TILE * width + (size_t)bx * TILE;
  global const int* match = similarity + (size_t)by * TILE * n + (size_t)bx * TILE;
  tile[0][x + 1] = corner[x + 1];
  tile[x + 1][0] = corner[(x + 1) * width];
  if (x == 0) tile[0][0] = corner[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 0; step < 2 * TILE - 1; ++step) {
    const int y = step - x;
    if (y >= 0 && y < TILE) {
      const int straight = tile[y][x] + match[(size_t)y * n + x];
      tile[y + 1][x + 1] = max(straight, max(tile[y][x + 1], tile[y + 1][x]) - gap);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int y = 0; y < TILE; ++y) corner[(y + 1) * width + x + 1] = tile[y + 1][x + 1];
}
)";

struct Settings : Common {
  Settings() { iterations = 5; }
  int64_t length = 1024;
};

// Both tables come from here: one allocation site, two ways of use.
[[gnu::noinline]] int32_t* allocate_table(size_t n) { return checked<int32_t>(malloc(n * sizeof(int32_t)), n); }

int32_t gap_of(int64_t iteration) { return static_cast<int32_t>(1 + iteration % 10); }

class Aligner {
 public:
  Aligner(Session& session, size_t length)
      : session_(session), n_(length), borders_(session.kernel("borders")), diagonal_(session.kernel("diagonal")) {
    similarity_ = session.buffer(CL_MEM_READ_ONLY, n_ * n_ * sizeof(int32_t));
    score_ = session.buffer(CL_MEM_READ_WRITE, cells() * sizeof(int32_t));
  }
  size_t cells() const { return (n_ + 1) * (n_ + 1); }

  void align(const int32_t* similarities, int32_t gap, int32_t* scores) {
    session_.write(similarity_, similarities, n_ * n_ * sizeof(int32_t));
    set_args(borders_, score_, static_cast<cl_int>(n_), gap);
    session_.launch(borders_, {n_ + 1});
    const size_t tiles = n_ / Tile;
    for (size_t sum = 0; sum + 1 < 2 * tiles; ++sum) {
      const size_t first = sum < tiles ? 0 : sum - tiles + 1, last = std::min(sum, tiles - 1);
      set_args(diagonal_, similarity_, score_, static_cast<cl_int>(n_), gap, static_cast<cl_int>(first),
               static_cast<cl_int>(sum));
      session_.launch(diagonal_, {(last - first + 1) * Tile}, {Tile});
    }
    session_.read(score_, scores, cells() * sizeof(int32_t));
  }

 private:
  Session& session_;
  size_t n_;
  cl_kernel borders_, diagonal_;
  cl_mem similarity_ = nullptr, score_ = nullptr;
};

// Row by row on the host: all integers, so the scores must be the same.
bool verify(const int32_t* similarities, const int32_t* scores, size_t n, int32_t gap) {
  std::vector<int32_t> above(n + 1), row(n + 1);
  for (size_t x = 0; x <= n; ++x) above[x] = -static_cast<int32_t>(x) * gap;
  for (size_t y = 1; y <= n; ++y) {
    row[0] = -static_cast<int32_t>(y) * gap;
    for (size_t x = 1; x <= n; ++x)
      row[x] = std::max(above[x - 1] + similarities[(y - 1) * n + x - 1], std::max(above[x], row[x - 1]) - gap);
    if (!std::equal(row.begin(), row.end(), scores + y * (n + 1))) return false;
    above.swap(row);
  }
  return true;
}

// Two random sequences: 5 where they agree, else a number from -4 to 0.
void fill(int32_t* similarities, size_t n) {
  Random random(3);
  std::vector<uint32_t> a(n), b(n);
  for (size_t i = 0; i < n; ++i) a[i] = random.below(20), b[i] = random.below(20);
  for (size_t y = 0; y < n; ++y)
    for (size_t x = 0; x < n; ++x)
      similarities[y * n + x] = a[y] == b[x] ? 5 : -static_cast<int32_t>((a[y] * b[x]) & 3u) - (a[y] > b[x] ? 1 : 0);
}

int run(const Settings& s) {
  const size_t n = static_cast<size_t>(s.length);
  Session session(Source, s.hand_pinned);
  Aligner aligner(session, n);
  int32_t* similarities = session.memory(n * n, allocate_table);
  fill(similarities, n);
  int32_t* pinned = s.hand_pinned ? session.pinned<int32_t>(aligner.cells()) : nullptr;

  uint64_t corners = 0, sum = 0;
  bool correct = true;
  double seconds = 0;
  for (int64_t i = 0; i < s.iterations; ++i) {
    const double start = now_s();
    int32_t* scores = pinned != nullptr ? pinned : allocate_table(aligner.cells());
    aligner.align(similarities, gap_of(i), scores);
    corners = corners * 31 + static_cast<uint32_t>(scores[aligner.cells() - 1]);
    seconds += now_s() - start;
    if (i + 1 == s.iterations) {
      correct = verify(similarities, scores, n, gap_of(i));
      sum = checksum_words(scores, aligner.cells() * sizeof(int32_t));
    }
    const double end = now_s();
    session.give_back(scores, free_memory);
    seconds += now_s() - end;
  }
  session.give_back(similarities, free_memory);
  return finish("nw", correct, sum ^ corners, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {.name = "--length", .help = "letters of each sequence, a multiple of 32", .number = &s.length, .small = 2048,
       .large = 8192, .least = 32, .most = 32768, .multiple = 32},
      s.iterations_option(20, 12, "gap penalties to try"), s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Aligns two sequences on an OpenCL device and checks the scores.", options);
  return gt::apps::run(s);
}
