// Path finding by dynamic programming: the cheapest way from the first row of a grid to each cell of the last, each
// step going straight on or one column aside. The whole grid is sent; one row comes back.
//
// The grid is a static array; the row of results is looked at through a mapping of its buffer.
#include <algorithm>
#include <utility>
#include <vector>

#include "microbench/apps/session.h"

namespace gt::apps {
namespace {

constexpr size_t MostCells = size_t{64} << 20;
constexpr const char* Source = R"(
// One row: the cheapest of the three cells above, and the cell itself; `toll` is paid for each step aside.
kernel void advance(global const int* cell, global const int* above, global int* below, uint row, int toll) {
  const uint x = get_global_id(0), width = get_global_size(0);
  int least = above[x];
  if (x > 0) least = min(least, above[x - 1] + toll);
  if (x + 1 < width) least = min(least, above[x + 1] + toll);
  below[x] = cell[(size_t)row * width + x] + least;
}
)";

struct Settings : Common {
  int64_t columns = 1 << 14, rows = 32;
};

int32_t g_grid[MostCells];  // its pages exist once they are used

int32_t toll_of(int64_t iteration) { return static_cast<int32_t>(iteration % 8); }

class Finder {
 public:
  Finder(Session& session, size_t columns, size_t rows)
      : session_(session), columns_(columns), rows_(rows), kernel_(session.kernel("advance")) {
    grid_ = session.buffer(CL_MEM_READ_ONLY, columns * rows * sizeof(int32_t));
    above_ = session.buffer(CL_MEM_READ_WRITE, columns * sizeof(int32_t));
    below_ = session.buffer(CL_MEM_READ_WRITE, columns * sizeof(int32_t));
  }
  // Calls look(costs) with the cheapest way to each cell of the last row.
  template <class Look>
  void find(const int32_t* grid, int32_t toll, Look look) {
    session_.write(grid_, grid, columns_ * rows_ * sizeof(int32_t));
    session_.write(above_, grid, columns_ * sizeof(int32_t));
    for (size_t row = 1; row < rows_; ++row) {
      set_args(kernel_, grid_, above_, below_, static_cast<cl_uint>(row), toll);
      session_.launch(kernel_, {columns_});
      std::swap(above_, below_);
    }
    cl_int error = CL_SUCCESS;
    void* costs = clEnqueueMapBuffer(session_.queue(), above_, CL_TRUE, CL_MAP_READ, 0, columns_ * sizeof(int32_t), 0,
                                     nullptr, nullptr, &error);
    check(error, "clEnqueueMapBuffer");
    look(static_cast<const int32_t*>(costs));
    check(clEnqueueUnmapMemObject(session_.queue(), above_, costs, 0, nullptr, nullptr), "clEnqueueUnmapMemObject");
  }

 private:
  Session& session_;
  size_t columns_, rows_;
  cl_kernel kernel_;
  cl_mem grid_, above_, below_;
};

bool verify(const int32_t* grid, size_t columns, size_t rows, int32_t toll, const int32_t* costs) {
  std::vector<int32_t> above(grid, grid + columns), below(columns);
  for (size_t row = 1; row < rows; ++row) {
    for (size_t x = 0; x < columns; ++x) {
      int32_t least = above[x];
      if (x > 0) least = std::min(least, above[x - 1] + toll);
      if (x + 1 < columns) least = std::min(least, above[x + 1] + toll);
      below[x] = grid[row * columns + x] + least;
    }
    above.swap(below);
  }
  return std::equal(above.begin(), above.end(), costs);
}

int run(const Settings& s) {
  const size_t columns = static_cast<size_t>(s.columns), rows = static_cast<size_t>(s.rows);
  Session session(Source, s.hand_pinned);
  Finder finder(session, columns, rows);
  int32_t* grid = s.hand_pinned ? session.pinned<int32_t>(columns * rows) : g_grid;
  std::vector<int32_t> costs;
  Random random(51);
  for (size_t i = 0; i < columns * rows; ++i) grid[i] = static_cast<int32_t>(random.below(10));

  uint64_t sum = 0;
  const double start = now_s();
  for (int64_t i = 0; i < s.iterations; ++i) {
    finder.find(grid, toll_of(i), [&](const int32_t* row) {
      sum = sum * 31 + static_cast<uint32_t>(row[columns / 2]);
      if (i + 1 == s.iterations) costs.assign(row, row + columns);
    });
  }
  const double seconds = now_s() - start;

  const bool correct = verify(grid, columns, rows, toll_of(s.iterations - 1), costs.data());
  sum ^= checksum_words(costs.data(), columns * sizeof(int32_t));
  return finish("pathfinder", correct, sum, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {.name = "--columns", .help = "columns of the grid", .number = &s.columns, .small = 1 << 16, .large = 1 << 20,
       .least = 1, .most = gt::apps::MostCells},
      {.name = "--rows", .help = "rows of the grid", .number = &s.rows, .small = 32, .large = 64, .least = 1,
       .most = gt::apps::MostCells},
      s.iterations_option(50, 80, "searches, each with another toll"), s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Finds the cheapest paths through a grid on an OpenCL device; checks them.", options);
  if (static_cast<size_t>(s.columns) > gt::apps::MostCells / static_cast<size_t>(s.rows))
    gt::apps::refuse(argv[0], "--columns times --rows must be at most 67108864");
  return gt::apps::run(s);
}
