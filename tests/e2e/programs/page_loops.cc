// Large blocks that come again: hardly touched then, or again and again.
#include <sys/wait.h>

#include <atomic>
#include <thread>

#include "tests/e2e/programs/page_care.h"

// A block like one that was full and was freed.
void again() {
  constexpr size_t Bytes = 256 * MiB;
  for (int round = 0; round < 3; ++round) {
    char* const full = block_of(Bytes);
    fill(full, Bytes);
    let_them_look();
    std::free(full);
  }
  char* const p = block_of(Bytes);
  touch(p, Bytes, MiB);
  let_them_look();
  say_memory("now", now());
  std::free(p);
  for (size_t bytes = 8 * MiB; bytes <= 64 * MiB; bytes += 8 * MiB) std::free(block_of(bytes));
  say("rounds", 3);
}

// Blocks that come again and again: freed by whom it may be, in part, as zeros, moved, with an alignment, in a child.
namespace {

constexpr size_t LoopBytes = 48 * MiB;
constexpr int Rounds = 12;

uint64_t filled_sum(char* p, size_t bytes, int round) {
  uint64_t sum = 0;
  for (size_t at = 0; at < bytes; at += 64) p[at] = static_cast<char>(at / 64 * 3 + static_cast<size_t>(round));
  for (size_t at = 0; at < bytes; at += 64) sum = sum * 31 + static_cast<unsigned char>(p[at]);
  return sum;
}
uint64_t loop(size_t bytes) {
  uint64_t sum = 0;
  for (int round = 0; round < Rounds; ++round) {
    char* const p = block_of(bytes);
    sum += filled_sum(p, bytes, round);
    std::free(p);
  }
  return sum;
}

// Threads whose loops have the same size, while others fork: each block is one thread's alone.
size_t shared_loops() {
  std::atomic<size_t> wrong{0};
  std::atomic<bool> over{false};
  const auto rounds = [&](unsigned char mark) {
    for (int round = 0; round < 4 * Rounds; ++round) {
      char* const p = block_of(10 * MiB);
      std::memset(p, mark, 10 * MiB);
      for (size_t at = 0; at < 10 * MiB; at += Page) wrong += static_cast<unsigned char>(p[at]) != mark;
      std::free(p);
    }
  };
  std::thread forks([&] {
    for (int state = 0; !over; wrong += state != 0) {
      const pid_t child = fork();
      if (child == 0) _exit(0);
      waitpid(child, &state, 0);
      usleep(5000);
    }
  });
  std::vector<std::thread> threads;
  for (unsigned char t = 1; t <= 4; ++t) threads.emplace_back(rounds, t);
  for (std::thread& t : threads) t.join();
  over = true;
  forks.join();
  return wrong;
}

}  // namespace

void loops() {
  say("filled", loop(LoopBytes));
  usleep(600'000);
  say_memory("after the loop", now());
  for (int round = 0; round < Rounds; ++round) {
    char* const p = block_of(LoopBytes);
    filled_sum(p, LoopBytes, round);
    std::thread([=] { std::free(p); }).join();
    char* const few = block_of(LoopBytes - MiB);
    touch(few, LoopBytes - MiB, MiB);
    std::free(few);
  }
  say_memory("in the loop", now());
  size_t odd = 0;
  for (int round = 0; round < Rounds; ++round) {
    char* const zero = some(std::calloc(LoopBytes, 1));
    for (size_t at = 0; at < LoopBytes; at += 64) odd += zero[at] != 0;
    std::memset(zero, 5, LoopBytes);
    std::free(zero);
    char* const aligned = some(std::aligned_alloc(Page, LoopBytes));
    odd += address(aligned) % Page != 0;
    fill(aligned, LoopBytes);
    std::free(aligned);
  }
  say("odd", odd);
  for (int round = 0; round < Rounds; ++round) {
    loop(2 * MiB);
    char* p = block_of(LoopBytes);
    filled_sum(p, LoopBytes, round);
    if (round % 4 == 3) {
      p = some(std::realloc(p, LoopBytes + 8 * MiB));
      odd += static_cast<unsigned char>(p[64]) != static_cast<unsigned char>(3 + round);
    }
    std::free(p);
  }
  say("moved", odd);
  const pid_t child = fork();
  if (child == 0) _exit(loop(LoopBytes) == loop(LoopBytes) ? 0 : 1);
  int state = 0;
  waitpid(child, &state, 0);
  say("child", static_cast<size_t>(state));
  say("again", loop(LoopBytes));
  say("shared", shared_loops());
}
