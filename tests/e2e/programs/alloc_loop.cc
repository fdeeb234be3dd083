// Nothing but malloc and free, for some seconds or some pairs. Fixed: a block of one size, freed at once. Random: sizes
// at random, a working set of blocks in which any one is freed and made anew. Prints what a pair took and how many
// there were. Beside it, on demand, what real programs have: a thread that frees some of its blocks, as drivers do, and
// children.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "microbench/apps/harness.h"

using namespace gt::apps;

namespace {

constexpr int64_t Between = 4096;  // pairs from one look at the clock to the next

struct Loop {
  int64_t seconds = 0, pairs = 0, size = 64, blocks = 1000, children = 0;
  bool random = false, helper = false;
};

// Frees what it is given, and makes a block of its own, a thousand times a second or so.
class Helper {
 public:
  Helper() : thread_([this] { help(); }) {}
  ~Helper() {
    over_ = true;
    thread_.join();
    std::free(given_.load());
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  void give(void* block) { std::free(given_.exchange(block)); }

 private:
  void help() {
    for (; !over_; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      std::free(given_.exchange(nullptr));
      char* volatile block = static_cast<char*>(std::malloc(100));
      std::free(block);
    }
  }

  std::atomic<void*> given_{nullptr};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

void fixed_pairs(int64_t count, size_t size) {
  for (int64_t i = 0; i < count; ++i) {
    char* volatile block = static_cast<char*>(std::malloc(size));
    *block = 1;
    std::free(block);
  }
}

void random_pairs(int64_t count, uint32_t most, std::vector<char*>& blocks, Random& random) {
  for (int64_t i = 0; i < count; ++i) {
    char*& block = blocks[random.below(static_cast<uint32_t>(blocks.size()))];
    std::free(block);
    block = static_cast<char*>(std::malloc(1 + random.below(most)));
    *block = 1;
  }
}

// One that makes some pairs while we make ours.
pid_t make_child() {
  const pid_t child = fork();
  if (child != 0) return child;
  fixed_pairs(1000, 100);
  _exit(0);
}

// Gives the number of pairs made.
int64_t run(const Loop& loop, Helper* helper, double begin) {
  Random random(3);
  int64_t children = loop.children;
  std::vector<char*> blocks(loop.random ? loop.blocks : 0);
  int64_t done = 0;
  do {
    const int64_t next = loop.pairs != 0 && loop.pairs - done < Between ? loop.pairs - done : Between;
    const pid_t child = children-- > 0 ? make_child() : -1;
    if (helper) helper->give(std::malloc(100));
    if (loop.random) {
      random_pairs(next, static_cast<uint32_t>(loop.size), blocks, random);
    } else {
      fixed_pairs(next, static_cast<size_t>(loop.size));
    }
    done += next;
    if (child > 0) waitpid(child, nullptr, 0);
  } while (loop.pairs != 0 ? done < loop.pairs : now_s() - begin < static_cast<double>(loop.seconds));
  for (char* block : blocks) std::free(block);
  return done;
}

}  // namespace

int main(int argc, char** argv) {
  Loop loop;
  const Option options[] = {{"--seconds", "how long", &loop.seconds, nullptr, 0, 0, 0, 1 << 30},
                            {"--pairs", "how many, instead", &loop.pairs},
                            {"--size", "bytes of a block, or the most", &loop.size, nullptr, 0, 0, 1, 1 << 20},
                            {"--random", "sizes and order at random", nullptr, &loop.random},
                            {"--blocks", "with --random: blocks alive", &loop.blocks, nullptr, 0, 0, 1, 1 << 24},
                            {"--helper", "a thread that frees some of the blocks", nullptr, &loop.helper},
                            {"--children", "processes that are forked meanwhile", &loop.children}};
  parse(argc, argv, "malloc and free, again and again.", options);
  if ((loop.seconds == 0) == (loop.pairs == 0)) refuse(argv[0], "one of --seconds and --pairs is needed");
  Device device = open_device();
  const double begin = now_s();
  const int64_t pairs = [&] {
    const std::unique_ptr<Helper> helper(loop.helper ? new Helper() : nullptr);
    return run(loop, helper.get(), begin);
  }();
  const double seconds = now_s() - begin;
  close_device(device);
  std::printf("pairs=%lld pair_ns=%.2f\n", static_cast<long long>(pairs), seconds * 1e9 / static_cast<double>(pairs));
  return finish("alloc_loop", true, checksum_words(&loop.pairs, sizeof loop.pairs), seconds);
}
