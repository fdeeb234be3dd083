// Sums of absolute differences, the search of a video encoder: each block of 8 x 8 pixels is compared with every place
// of a window in the previous frame. Two small frames are sent, many sums come back.
//
// The sums are malloc'ed for each frame by the function that computes them, and freed by its caller.
#include <algorithm>
#include <cstdlib>

#include "microbench/apps/session.h"

namespace gt::apps {
namespace {

constexpr size_t Block = 8;
constexpr const char* Source = R"(
// sum[block][y][x]: the block against the previous frame, moved by (x - range, y - range), clamped at the edges.
kernel void differences(global const uchar* now, global const uchar* before, global ushort* sum, int width, int height,
                        int range) {
  const int side = 2 * range + 1, place = get_global_id(0), block = get_global_id(1);
  const int left = block % (width / 8) * 8, top = block / (width / 8) * 8;
  const int dx = place % side - range, dy = place / side - range;
  uint total = 0;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) {
      const int px = clamp(left + x + dx, 0, width - 1), py = clamp(top + y + dy, 0, height - 1);
      total += abs_diff(now[(top + y) * width + left + x], before[py * width + px]);
    }
  sum[(size_t)block * side * side + place] = total;
}
)";

struct Settings : Common {
  Settings() { iterations = 5; }
  int64_t width = 640, height = 352, range = 4;

  size_t pixels() const { return static_cast<size_t>(width * height); }
  size_t places() const { return static_cast<size_t>((2 * range + 1) * (2 * range + 1)); }
  size_t blocks() const { return pixels() / (Block * Block); }
  size_t sums() const { return blocks() * places(); }
};

[[gnu::noinline]] uint8_t* allocate_video(size_t n) { return checked<uint8_t>(malloc(n), n); }

// A pattern that moves by (3, 1) from frame to frame, and noise.
void draw(uint8_t* frame, const Settings& s, int64_t number) {
  Random random(static_cast<uint32_t>(number) + 61);
  for (int64_t y = 0, i = 0; y < s.height; ++y)
    for (int64_t x = 0; x < s.width; ++x, ++i) {
      const int64_t u = x - 3 * number, v = y - number;
      frame[i] = static_cast<uint8_t>(((u * u / 7 + v * 5 + u * v / 64) & 0xf8) + (random.next() & 3));
    }
}

class Encoder {
 public:
  Encoder(Session& session, const Settings& s) : session_(session), s_(s), kernel_(session.kernel("differences")) {
    now_ = session.buffer(CL_MEM_READ_ONLY, s.pixels());
    before_ = session.buffer(CL_MEM_READ_ONLY, s.pixels());
    sums_ = session.buffer(CL_MEM_WRITE_ONLY, s.sums() * sizeof(uint16_t));
    if (s.hand_pinned) pinned_ = session.pinned<uint16_t>(s.sums());
    set_args(kernel_, now_, before_, sums_, static_cast<cl_int>(s.width), static_cast<cl_int>(s.height),
             static_cast<cl_int>(s.range));
  }

  // To be given back with free(), unless they are pinned: then they are good until the next call.
  [[gnu::noinline]] uint16_t* differences(const uint8_t* now, const uint8_t* before) {
    const size_t bytes = s_.sums() * sizeof(uint16_t);
    uint16_t* sums = pinned_ != nullptr ? pinned_ : checked<uint16_t>(malloc(bytes), s_.sums());
    session_.write(now_, now, s_.pixels(), CL_FALSE);
    session_.write(before_, before, s_.pixels(), CL_FALSE);
    session_.launch(kernel_, {s_.places(), s_.blocks()});
    session_.read(sums_, sums, bytes, CL_FALSE);
    session_.finish();
    return sums;
  }

 private:
  Session& session_;
  const Settings& s_;
  cl_kernel kernel_;
  cl_mem now_, before_, sums_;
  uint16_t* pinned_ = nullptr;
};

uint16_t difference(const uint8_t* now, const uint8_t* before, const Settings& s, size_t index) {
  const int64_t side = 2 * s.range + 1, block = static_cast<int64_t>(index / s.places()),
                place = static_cast<int64_t>(index % s.places());
  const int64_t left = block % (s.width / 8) * 8, top = block / (s.width / 8) * 8;
  int sum = 0;
  for (int64_t y = top; y < top + 8; ++y)
    for (int64_t x = left; x < left + 8; ++x) {
      const int64_t px = std::clamp<int64_t>(x + place % side - s.range, 0, s.width - 1);
      const int64_t py = std::clamp<int64_t>(y + place / side - s.range, 0, s.height - 1);
      sum += std::abs(now[y * s.width + x] - before[py * s.width + px]);
    }
  return static_cast<uint16_t>(sum);
}

bool verify(const uint8_t* now, const uint8_t* before, const Settings& s, const uint16_t* sums) {
  const size_t stride = std::max<size_t>(1, s.sums() / (1 << 17)) | 1;
  for (size_t i = 0; i < s.sums(); i += stride)
    if (sums[i] != difference(now, before, s, i)) return false;
  return true;
}

int run(const Settings& s) {
  constexpr int64_t Frames = 4;  // the video repeats
  Session session(Source, s.hand_pinned);
  Encoder encoder(session, s);
  uint8_t* video = session.memory(s.pixels() * Frames, allocate_video);
  for (int64_t f = 0; f < Frames; ++f) draw(video + static_cast<size_t>(f) * s.pixels(), s, f);
  const auto frame = [&](int64_t i) { return video + static_cast<size_t>(i % Frames) * s.pixels(); };

  uint64_t sum = 0;
  bool correct = true;
  double seconds = 0;
  for (int64_t i = 0; i < s.iterations; ++i) {
    const double start = now_s();
    uint16_t* sums = encoder.differences(frame(i + 1), frame(i));
    const uint16_t best = *std::min_element(sums, sums + s.places());  // of the first block
    sum = sum * 31 + best;
    seconds += now_s() - start;
    if (i + 1 == s.iterations) {
      correct = verify(frame(i + 1), frame(i), s, sums);
      sum ^= checksum_words(sums, s.sums() * sizeof(uint16_t));
    }
    const double end = now_s();
    session.give_back(sums, free_memory);
    seconds += now_s() - end;
  }
  session.give_back(video, free_memory);
  return finish("sad", correct, sum, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {.name = "--width", .help = "pixels of a row, a multiple of 8", .number = &s.width, .small = 960, .large = 3840,
       .least = 8, .most = 16384, .multiple = 8},
      {.name = "--height", .help = "rows, a multiple of 8", .number = &s.height, .small = 544, .large = 2160,
       .least = 8, .most = 16384, .multiple = 8},
      {.name = "--range", .help = "how far to search, in pixels", .number = &s.range, .small = 8, .large = 8,
       .least = 1, .most = 32},
      s.iterations_option(10, 100, "frames"), s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Compares the blocks of video frames on an OpenCL device; checks the sums.", options);
  return gt::apps::run(s);
}
