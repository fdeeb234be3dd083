// Smith-Waterman: the best local alignment of two sequences by dynamic programming, a launch for each anti-diagonal:
// thousands of small launches in a row, each needing the two before it. What launching costs decides its time.
//
// Three diagonals of scores are kept on the device and change their roles from launch to launch; only the best score
// is received. The device takes the maximum by atomics, so the result does not depend on their order.
#include <algorithm>
#include <vector>

#include "microbench/apps/session.h"

namespace gt::apps {
namespace {

constexpr int32_t Match = 3, Mismatch = -2, Gap = 2;
constexpr size_t GroupSize = 64;
constexpr const char* Source = R"(
// Cell (i, sum - i) of the matrix for all i of the diagonal; scores are indexed by i, row and column 0 are zeros.
kernel void diagonal(global const uchar* a, global const uchar* b, global const int* before, global const int* last,
                     global int* now, global int* best, int first, int count, int sum) {
  const int at = get_global_id(0);
  if (at >= count) return;
  const int i = first + at, j = sum - i;
  int score = 0;
  if (i > 0 && j > 0) {
    const int same = before[i - 1] + (a[i - 1] == b[j - 1] ? 3 : -2);
    score = max(max(same, max(last[i - 1], last[i]) - 2), 0);
  }
  now[i] = score;
  if (score > best[0]) atomic_max(best, score);
}
)";

struct Settings : Common {
  Settings() { iterations = 1; }
  int64_t length = 1024;
};

[[gnu::noinline]] uint8_t* allocate_letters(size_t n) { return checked<uint8_t>(malloc(n), n); }

// One is the other after mutations of every tenth letter: their best alignment is as long as they are.
void fill(uint8_t* a, uint8_t* b, size_t n) {
  Random random(1);
  const auto letter = [&] { return static_cast<uint8_t>("ACGT"[random.below(4)]); };
  for (size_t i = 0; i < n; ++i) {
    a[i] = letter();
    b[i] = random.below(10) == 0 ? letter() : a[i];
  }
}

class Aligner {
 public:
  Aligner(Session& session, size_t length) : session_(session), n_(length), kernel_(session.kernel("diagonal")) {
    for (cl_mem& letters : letters_) letters = session.buffer(CL_MEM_READ_ONLY, n_);
    for (cl_mem& d : diagonals_) d = session.buffer(CL_MEM_READ_WRITE, (n_ + 1) * sizeof(int32_t));
    best_ = session.buffer(CL_MEM_READ_WRITE, sizeof(int32_t));
  }

  int32_t align(const uint8_t* a, const uint8_t* b) {
    int32_t best = 0;
    session_.write(letters_[0], a, n_, CL_FALSE);
    session_.write(letters_[1], b, n_, CL_FALSE);
    session_.write(best_, &best, sizeof best);
    for (size_t sum = 0; sum <= 2 * n_; ++sum) launch(sum);
    session_.read(best_, &best, sizeof best);
    return best;
  }

 private:
  void launch(size_t sum) {
    const size_t first = sum > n_ ? sum - n_ : 0, last = std::min(sum, n_), count = last - first + 1;
    set_args(kernel_, letters_[0], letters_[1], diagonals_[(sum + 1) % 3], diagonals_[(sum + 2) % 3],
             diagonals_[sum % 3], best_, static_cast<cl_int>(first), static_cast<cl_int>(count),
             static_cast<cl_int>(sum));
    session_.launch(kernel_, {(count + GroupSize - 1) / GroupSize * GroupSize}, {GroupSize});
  }

  Session& session_;
  size_t n_;
  cl_kernel kernel_;
  cl_mem letters_[2] = {}, diagonals_[3] = {}, best_ = nullptr;
};

// Row by row on the host.
int32_t best_score(const uint8_t* a, const uint8_t* b, size_t n) {
  std::vector<int32_t> above(n + 1), row(n + 1);
  int32_t best = 0;
  for (size_t y = 1; y <= n; ++y) {
    for (size_t x = 1; x <= n; ++x) {
      const int32_t same = above[x - 1] + (a[y - 1] == b[x - 1] ? Match : Mismatch);
      row[x] = std::max({same, above[x] - Gap, row[x - 1] - Gap, 0});
      best = std::max(best, row[x]);
    }
    above.swap(row);
  }
  return best;
}

int run(const Settings& s) {
  const size_t n = static_cast<size_t>(s.length);
  Session session(Source, s.hand_pinned);
  Aligner aligner(session, n);
  uint8_t* a = session.memory(n, allocate_letters);
  uint8_t* b = session.memory(n, allocate_letters);
  fill(a, b, n);

  int32_t best = 0;
  const double start = now_s();
  for (int64_t i = 0; i < s.iterations; ++i) best = aligner.align(a, b);
  const double seconds = now_s() - start;

  const bool correct = best == best_score(a, b, n);
  for (uint8_t* p : {a, b}) session.give_back(p, free_memory);
  return finish("sw", correct, static_cast<uint64_t>(best), seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {.name = "--length", .help = "letters of each sequence", .number = &s.length, .small = 1024, .large = 16384,
       .least = 1, .most = 65536},
      s.iterations_option(4, 4, "alignments to compute"), s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Aligns two sequences on an OpenCL device and checks the best score.", options);
  return gt::apps::run(s);
}
