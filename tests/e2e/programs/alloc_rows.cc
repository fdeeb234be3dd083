// Matrices whose rows are blocks of their own, as many a program of neural networks keeps its weights: made row by row,
// filled from the C library's rand(), one step of training, copied together as if for a device, freed row by row.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "microbench/apps/harness.h"

using namespace gt::apps;

namespace {

using Matrix = float**;

template <class T>
T* make(size_t count) {
  return static_cast<T*>(check_memory(std::malloc(count * sizeof(T)), count * sizeof(T)));
}

Matrix make_matrix(size_t rows, size_t columns) {
  Matrix matrix = make<float*>(rows);
  for (size_t r = 0; r < rows; ++r) matrix[r] = make<float>(columns);
  return matrix;
}

void free_matrix(Matrix matrix, size_t rows) {
  for (size_t r = 0; r < rows; ++r) std::free(matrix[r]);
  std::free(matrix);
}

void fill(Matrix matrix, size_t rows, size_t columns) {
  constexpr float Unit = 1.0f / (static_cast<float>(RAND_MAX / 2 + 1) * 2);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) matrix[r][c] = static_cast<float>(std::rand()) * Unit;
  }
}

// Adds a part of every other matrix to the first one.
void train(const std::vector<Matrix>& matrices, size_t rows, size_t columns) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) {
      for (size_t m = 1; m < matrices.size(); ++m) matrices[0][r][c] += 0.25f * matrices[m][r][c];
    }
  }
}

std::vector<float> together(Matrix matrix, size_t rows, size_t columns) {
  std::vector<float> all(rows * columns);
  for (size_t r = 0; r < rows; ++r) std::copy_n(matrix[r], columns, all.begin() + r * columns);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  int64_t rows = 1 << 18, columns = 17, count = 2;
  const Option options[] = {{"--rows", "rows of a matrix", &rows, nullptr, 0, 0, 1},
                            {"--columns", "floats of a row", &columns, nullptr, 0, 0, 1, 1 << 20},
                            {"--matrices", "matrices", &count, nullptr, 0, 0, 1, 64}};
  parse(argc, argv, "Matrices whose rows are blocks of their own.", options);
  Device device = open_device();
  std::srand(7);
  std::vector<Matrix> matrices;
  matrices.reserve(count);
  const double begin = now_s();
  for (int64_t m = 0; m < count; ++m) {
    matrices.push_back(make_matrix(rows, columns));
    fill(matrices.back(), rows, columns);
  }
  train(matrices, rows, columns);
  const std::vector<float> weights = together(matrices[0], rows, columns);
  for (Matrix matrix : matrices) free_matrix(matrix, rows);
  const double seconds = now_s() - begin;
  close_device(device);
  const float most = 1 + 0.25f * static_cast<float>(count - 1);
  const bool right = std::ranges::all_of(weights, [&](float w) { return w >= 0 && w <= most; });
  return finish("alloc_rows", right, checksum(weights), seconds);
}
