// Sparse matrix times vector: the matrix (CSR) is sent once; the vector goes to the device and the product comes back
// in every iteration, because the host has to see it before it becomes the next vector.
//
// Host memory is std::vector; transfers do not block and are ordered by events.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "microbench/apps/session.h"

namespace gt::apps {
namespace {

constexpr const char* Source = R"(
kernel void multiply(global const float* value, global const uint* column, global const uint* row,
                     global const float* x, global float* y) {
  const uint i = get_global_id(0);
  float sum = 0;
  for (uint e = row[i]; e < row[i + 1]; ++e) sum += value[e] * x[column[e]];
  y[i] = sum;
}
)";

struct Settings : Common {
  Settings() { iterations = 20; }
  int64_t rows = 1 << 16;
};

// Memory of a vector, or pinned: the program works with the span.
template <class T>
struct Array {
  std::vector<T> own;
  std::span<T> items;

  explicit Array(Session& session, size_t n) {
    if (session.hand_pinned()) {
      items = {session.pinned<T>(n), n};
    } else {
      own.resize(n);
      items = own;
    }
  }
};

struct Matrix {
  Array<float> value;
  Array<uint32_t> column, row;
};

// From 5 to 11 values a row, near the diagonal. Of both signs, and small enough that vectors neither grow nor vanish.
Matrix make_matrix(Session& session, size_t rows) {
  Matrix m{Array<float>(session, rows * 8), Array<uint32_t>(session, rows * 8), Array<uint32_t>(session, rows + 1)};
  Random random(5);
  size_t at = 0;
  for (size_t i = 0; i < rows; ++i) {
    m.row.items[i] = static_cast<uint32_t>(at);
    const size_t end = i + 1 == rows ? rows * 8 : std::min(i * 8 + 8 + random.below(4), rows * 8);
    const float size = std::sqrt(3.0f / static_cast<float>(end - at));
    for (; at < end; ++at) {
      m.column.items[at] = static_cast<uint32_t>((i + rows + random.below(65536) - 32768 % rows) % rows);
      m.value.items[at] = (2 * random.unit() - 1) * size;
    }
  }
  m.row.items[rows] = static_cast<uint32_t>(at);
  return m;
}

class Multiplier {
 public:
  Multiplier(Session& session, const Matrix& m)
      : session_(session), kernel_(session.kernel("multiply")), rows_(m.row.items.size() - 1) {
    value_ = sent(m.value.items);
    column_ = sent(m.column.items);
    row_ = sent(m.row.items);
    x_ = session.buffer(CL_MEM_READ_ONLY, rows_ * sizeof(float));
    y_ = session.buffer(CL_MEM_WRITE_ONLY, rows_ * sizeof(float));
    set_args(kernel_, value_, column_, row_, x_, y_);
  }

  void multiply(const float* x, float* y) {
    cl_event written = nullptr, done = nullptr, read = nullptr;
    const size_t bytes = rows_ * sizeof(float);
    check(clEnqueueWriteBuffer(session_.queue(), x_, CL_FALSE, 0, bytes, x, 0, nullptr, &written),
          "clEnqueueWriteBuffer");
    check(clEnqueueNDRangeKernel(session_.queue(), kernel_, 1, nullptr, &rows_, nullptr, 1, &written, &done),
          "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(session_.queue(), y_, CL_FALSE, 0, bytes, y, 1, &done, &read), "clEnqueueReadBuffer");
    check(clWaitForEvents(1, &read), "clWaitForEvents");
    for (cl_event e : {written, done, read}) check(clReleaseEvent(e), "clReleaseEvent");
  }

 private:
  template <class T>
  cl_mem sent(std::span<const T> items) {
    cl_mem buffer = session_.buffer(CL_MEM_READ_ONLY, items.size_bytes());
    session_.write(buffer, items.data(), items.size_bytes(), CL_FALSE);
    return buffer;
  }
  template <class T>
  cl_mem sent(std::span<T> items) {
    return sent(std::span<const T>(items));
  }

  Session& session_;
  cl_kernel kernel_;
  size_t rows_;
  cl_mem value_, column_, row_, x_, y_;
};

// A sample of the last product's rows.
bool verify(const Matrix& m, std::span<const float> x, std::span<const float> y) {
  const size_t stride = std::max<size_t>(1, y.size() / (1 << 20));
  for (size_t i = 0; i < y.size(); i += stride) {
    double sum = 0, size = 0;
    for (uint32_t e = m.row.items[i]; e < m.row.items[i + 1]; ++e) {
      const double product = double{m.value.items[e]} * double{x[m.column.items[e]]};
      sum += product;
      size += std::fabs(product);
    }
    if (!(std::fabs(sum - double{y[i]}) <= 1e-5 * size)) return false;
  }
  return true;
}

int run(const Settings& s) {
  const size_t rows = static_cast<size_t>(s.rows);
  Session session(Source, s.hand_pinned);
  Matrix matrix = make_matrix(session, rows);
  Array<float> first(session, rows), second(session, rows);
  Random random(6);
  for (float& v : first.items) v = random.unit();
  std::fill(second.items.begin(), second.items.end(), 0.0f);
  std::span<float> x = first.items, y = second.items;

  const double start = now_s();
  Multiplier multiplier(session, matrix);
  for (int64_t i = 0; i < s.iterations; ++i) {
    multiplier.multiply(x.data(), y.data());
    y[0] = 1;  // what the host adds between two products
    std::swap(x, y);
  }
  const double seconds = now_s() - start;

  multiplier.multiply(x.data(), y.data());
  const bool correct = verify(matrix, x, y);
  return finish("spmv", correct, checksum(y), seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {.name = "--rows", .help = "rows of the matrix, eight values each on average", .number = &s.rows,
       .small = 1 << 19, .large = 1 << 23, .least = 16, .most = 1 << 27},
      s.iterations_option(100, 300, "products, each of the one before"), s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Multiplies a sparse matrix by vectors on an OpenCL device; checks the result.",
                  options);
  return gt::apps::run(s);
}
