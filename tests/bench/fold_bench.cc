// What folding costs an event: the collector must keep up with the program.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "traces/model/fold/fold.h"

namespace {

using gt::model::Folder;
using gt::model::ShapeId;

// Events as one flat list, made before the clock starts.
struct Events {
  std::vector<ShapeId> shapes;
  std::vector<size_t> ends;
  std::vector<int64_t> values;
  void add(ShapeId shape, std::initializer_list<int64_t> row) {
    shapes.push_back(shape);
    values.insert(values.end(), row);
    ends.push_back(values.size());
  }
};

constexpr int64_t Size = 1 << 18;

Events regular() {
  Events e;
  for (int64_t i = 0; i < Size / 4; ++i) {
    e.add(1, {0, 0, 4096, 1});
    e.add(2, {0, 7, i, 5, 6});
    e.add(3, {0, 1024, 64});
    e.add(4, {0, i * 8, i % 2, 0, 9, 9});
  }
  return e;
}
Events nested() {
  Events e;
  for (int64_t i = 0; i < Size / 16; ++i) {
    e.add(1, {i, 0, 1});
    for (int64_t j = 0; j < 14; ++j) e.add(2, {j, i * 14 + j, 4, 7});
    e.add(3, {0, 0, 0});
  }
  return e;
}
Events polling() {
  Events e;
  std::mt19937_64 r(1);
  while (e.shapes.size() < Size) {
    e.add(1, {0, 1, 2});
    for (uint64_t j = r() % 6; j > 0; --j) e.add(2, {0, 1});
    e.add(3, {static_cast<int64_t>(r() % 100), 0});
  }
  return e;
}
Events irregular() {
  Events e;
  std::mt19937_64 r(2);
  for (int64_t i = 0; i < Size; ++i) {
    e.add(static_cast<ShapeId>(r() % 50), {static_cast<int64_t>(r() % 1000), 3});
  }
  return e;
}

void fold(benchmark::State& state, Events (*make)()) {
  const Events e = make();
  for (auto _ : state) {
    Folder folder;
    size_t begin = 0;
    for (size_t i = 0; i < e.shapes.size(); ++i) {
      folder.push(e.shapes[i], {e.values.data() + begin, e.ends[i] - begin});
      begin = e.ends[i];
    }
    benchmark::DoNotOptimize(folder.events());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(e.shapes.size()));
}

BENCHMARK_CAPTURE(fold, regular, regular);
BENCHMARK_CAPTURE(fold, nested, nested);
BENCHMARK_CAPTURE(fold, polling, polling);
BENCHMARK_CAPTURE(fold, irregular, irregular);

}  // namespace

BENCHMARK_MAIN();
