// The delay window on a simulated path: flows that share a bottleneck with a queue.
#include "transport/link/base/window.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <vector>

namespace gt::wire {
namespace {

struct Path {
  double bytes_per_ns;
  uint64_t delay_ns;  // there and back
};

struct Flow {
  DelayWindow window;
  size_t under_way = 0;
  uint64_t delivered = 0;
};

struct Chunk {
  Flow* flow;
  size_t bytes;
  uint64_t sent_ns, acked_ns;
};

struct Outcome {
  double use;        // of the bottleneck, in the second half
  uint64_t delay_ns;  // the mean of a chunk in the second half, above the path's own
};

// Flows always have something to send. The bottleneck serves chunks in the order in which they were sent.
Outcome simulate(const Path& path, std::vector<Flow>& flows, uint64_t until_ns) {
  std::deque<Chunk> queue;
  uint64_t now = 0, free_ns = 0, chunks = 0, delays = 0, bytes = 0;
  while (now < until_ns) {
    for (Flow& f : flows) {
      while (f.under_way == 0 || f.under_way + f.window.chunk() <= f.window.bytes()) {
        const size_t n = f.window.chunk();
        free_ns = std::max(free_ns, now) + static_cast<uint64_t>(static_cast<double>(n) / path.bytes_per_ns);
        queue.push_back({&f, n, now, free_ns + path.delay_ns});
        f.under_way += n;
      }
    }
    const Chunk c = queue.front();
    queue.pop_front();
    now = c.acked_ns;
    c.flow->under_way -= c.bytes;
    c.flow->window.acknowledged(now, c.bytes, now - c.sent_ns);
    if (now < until_ns / 2) continue;
    c.flow->delivered += c.bytes;
    bytes += c.bytes;
    delays += now - c.sent_ns - path.delay_ns;
    ++chunks;
  }
  return {static_cast<double>(bytes) / (path.bytes_per_ns * static_cast<double>(now - until_ns / 2)), delays / chunks};
}

constexpr double Gbit = 0.125;  // bytes per ns
constexpr uint64_t Us = 1000, Second = 1'000'000'000;

TEST_CASE("one flow fills paths of every kind without a long queue") {
  for (const Path path : {Path{Gbit / 10, 100 * Us}, Path{Gbit, 100 * Us}, Path{10 * Gbit, 50 * Us},
                          Path{Gbit, 10'000 * Us}, Path{10 * Gbit, 10'000 * Us}, Path{100 * Gbit, 20 * Us}}) {
    CAPTURE(path.bytes_per_ns);
    CAPTURE(path.delay_ns);
    std::vector<Flow> flows(1);
    const Outcome o = simulate(path, flows, 30 * Second);
    CHECK(o.use >= 0.9);
    const auto least_ns = static_cast<uint64_t>(static_cast<double>(DelayWindow::Least) / path.bytes_per_ns);
    CHECK(o.delay_ns <= 2 * DelayWindow::Slack_ns + path.delay_ns / 2 + least_ns);
  }
}

TEST_CASE("four flows share a bottleneck fairly") {
  for (const Path path : {Path{Gbit / 10, 100 * Us}, Path{Gbit, 200 * Us}, Path{10 * Gbit, 1000 * Us}}) {
    CAPTURE(path.bytes_per_ns);
    std::vector<Flow> flows(4);
    const Outcome o = simulate(path, flows, 40 * Second);
    double sum = 0, squares = 0;
    for (const Flow& f : flows) {
      const auto x = static_cast<double>(f.delivered);
      sum += x, squares += x * x;
    }
    CHECK(o.use >= 0.9);
    CHECK(sum * sum / (4 * squares) >= 0.9);  // Jain's index
  }
}

TEST_CASE("the window shrinks when the path becomes slower, and grows again") {
  DelayWindow w;
  uint64_t now = Second;
  const auto ack = [&](int n, uint64_t delay_ns) {
    while (n-- > 0) w.acknowledged(now += delay_ns, w.bytes(), delay_ns);
  };
  ack(5, 100 * Us);
  const size_t before = w.bytes();
  ack(1, 5000 * Us);
  CHECK(w.bytes() <= before / 2);
  const size_t low = w.bytes();
  ack(10, 100 * Us);
  CHECK(w.bytes() >= low + 9 * DelayWindow::Step);
  ack(30, 50'000 * Us);
  CHECK(w.bytes() == DelayWindow::Least);
}

TEST_CASE("the path's own delay is measured anew") {
  DelayWindow w;
  uint64_t now = 0;
  for (int i = 0; i < 100; ++i) w.acknowledged(now += 100 * Us, 65536, 100 * Us);
  CHECK(w.base_ns() == 100 * Us);
  bool probed = false;
  for (int i = 0; i < 20'000; ++i) {  // a route that is 2 ms longer
    w.acknowledged(now += 1000 * Us, 65536, 2100 * Us);
    probed = probed || w.bytes() == DelayWindow::LeastChunk;
  }
  CHECK(probed);
  CHECK(w.base_ns() == 2100 * Us);
}

}  // namespace
}  // namespace gt::wire
