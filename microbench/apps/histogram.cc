// Histogram of a file's bytes: all of it is sent each time, little comes back: one histogram for each work-group.
//
// The input is an mmap'ed file, the results arrive in an array on the stack. By hand, an expert would read the file
// into pinned memory once.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "microbench/apps/session.h"

namespace gt::apps {
namespace {

constexpr size_t Bins = 256, Groups = 256, Items = 64;
constexpr const char* Source = R"(
// Each group counts a contiguous part. `key` turns the bytes around, so that no two passes count the same.
kernel void count(global const uint* word, uint words, uint key, global uint* partial) {
  local uint bins[256];
  const uint x = get_local_id(0), items = get_local_size(0);
  for (uint b = x; b < 256; b += items) bins[b] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint part = (words + get_num_groups(0) - 1) / get_num_groups(0);
  const uint end = min(words, part * ((uint)get_group_id(0) + 1));
  for (uint i = part * get_group_id(0) + x; i < end; i += items) {
    const uint w = word[i] ^ key;
    atomic_inc(&bins[w & 255]);
    atomic_inc(&bins[w >> 8 & 255]);
    atomic_inc(&bins[w >> 16 & 255]);
    atomic_inc(&bins[w >> 24]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint b = x; b < 256; b += items) partial[get_group_id(0) * 256 + b] = bins[b];
}
)";

struct Settings : Common {
  int64_t kib = 4096;
};
using Histogram = std::vector<uint64_t>;

[[noreturn]] void file_problem(const char* what) {
  std::perror(what);
  std::exit(1);
}

// A file without a name, as long as it is open.
int make_file(size_t bytes) {
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/histogram.XXXXXX";
  const int fd = mkstemp(path.data());
  if (fd < 0) file_problem(path.c_str());
  unlink(path.c_str());
  std::vector<uint32_t> block(1 << 16);
  Random random(11);
  for (size_t done = 0; done < bytes;) {
    for (uint32_t& w : block) w = random.next() * (random.next() & 0xffffu);
    const ssize_t n = ::write(fd, block.data(), std::min(bytes - done, block.size() * sizeof(uint32_t)));
    if (n <= 0) file_problem("write");
    done += static_cast<size_t>(n);
  }
  return fd;
}

const uint32_t* map_file(int fd, size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (p == MAP_FAILED) file_problem("mmap");
  return static_cast<const uint32_t*>(p);
}

const uint32_t* read_file(Session& session, int fd, size_t bytes) {
  auto* to = session.pinned<uint32_t>(bytes / sizeof(uint32_t));
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = pread(fd, reinterpret_cast<char*>(to) + done, bytes - done, static_cast<off_t>(done));
    if (n <= 0) file_problem("read");
    done += static_cast<size_t>(n);
  }
  return to;
}

uint32_t key_of(int64_t iteration) { return static_cast<uint32_t>(iteration) * 2654435761u; }

Histogram count_on_host(const uint32_t* words, size_t n, uint32_t key) {
  Histogram bins(Bins);
  for (size_t i = 0; i < n; ++i)
    for (uint32_t w = words[i] ^ key, byte = 0; byte < 4; ++byte, w >>= 8) ++bins[w & 255];
  return bins;
}

// One pass: everything is sent, the groups' results are added up.
class Counter {
 public:
  Counter(Session& session, size_t words)
      : session_(session), words_(words), kernel_(session.kernel("count")) {
    input_ = session.buffer(CL_MEM_READ_ONLY, words * sizeof(uint32_t));
    partial_ = session.buffer(CL_MEM_WRITE_ONLY, Groups * Bins * sizeof(uint32_t));
    if (session.hand_pinned()) pinned_ = session.pinned<uint32_t>(Groups * Bins);
  }
  [[gnu::noinline]] Histogram count(const uint32_t* words, uint32_t key) {
    uint32_t on_stack[Groups * Bins];
    uint32_t* partial = pinned_ != nullptr ? pinned_ : on_stack;
    session_.write(input_, words, words_ * sizeof(uint32_t));
    set_args(kernel_, input_, static_cast<cl_uint>(words_), key, partial_);
    session_.launch(kernel_, {Groups * Items}, {Items});
    session_.read(partial_, partial, Groups * Bins * sizeof(uint32_t));
    Histogram sum(Bins);
    for (size_t i = 0; i < Groups * Bins; ++i) sum[i % Bins] += partial[i];
    return sum;
  }

 private:
  Session& session_;
  size_t words_;
  cl_kernel kernel_;
  cl_mem input_ = nullptr, partial_ = nullptr;
  uint32_t* pinned_ = nullptr;
};

int run(const Settings& s) {
  const size_t bytes = static_cast<size_t>(s.kib) << 10, words = bytes / sizeof(uint32_t);
  Session session(Source, s.hand_pinned);
  Counter counter(session, words);
  const int fd = make_file(bytes);
  const uint32_t* input = s.hand_pinned ? read_file(session, fd, bytes) : map_file(fd, bytes);

  Histogram last;
  uint64_t sum = 0;
  const double start = now_s();
  for (int64_t i = 0; i < s.iterations; ++i) {
    last = counter.count(input, key_of(i));
    sum = sum * 31 + checksum_words(last.data(), Bins * sizeof last[0]);
  }
  const double seconds = now_s() - start;

  const bool correct = last == count_on_host(input, words, key_of(s.iterations - 1));
  if (!s.hand_pinned) munmap(const_cast<uint32_t*>(input), bytes);
  close(fd);
  return finish("histogram", correct, sum, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {.name = "--kib", .help = "KiB of the file", .number = &s.kib, .small = 8 << 10, .large = 256 << 10, .least = 1,
       .most = 4 << 20},
      s.iterations_option(50, 80, "times to count, each with other values"), s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Counts a file's bytes on an OpenCL device and checks the counts.", options);
  return gt::apps::run(s);
}
