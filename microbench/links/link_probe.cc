#include "microbench/links/link_probe.h"

#include <algorithm>
#include <cstring>

#include "microbench/links/answers.h"
#include "microbench/links/bare_socket.h"
#include "traces/base/clock.h"
#include "transport/link/connect.h"
#include "transport/link/net/tcp_link.h"

namespace gt::bench {
namespace {

constexpr size_t Frame = 32;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Probe {
 public:
  Probe(std::unique_ptr<wire::Link> link, bool quick) : link_(std::move(link)), quick_(quick) {}
  ~Probe() {
    link_->close();
    link_.reset();
  }

  Status begin(const wire::Url& url) {
    GT_TRY(link_->start(answers_));
    const Result<EchoGreeting> greeting = answers_.greeting(*link_);
    if (!greeting) return greeting.status();
    greeting_ = *greeting;
    if (greeting_.bare_port == 0) return {};
    auto bare = BareSocket::connect(url, greeting_);
    if (bare) bare_ = std::move(*bare);  // a firewall may keep it out: then there is no comparison
    return {};
  }

  Status latency(LinkResult& out) {
    const int rounds = quick_ ? 300 : 3000;
    std::vector<double> times, bare;
    for (int i = 0; i < rounds; ++i) {
      const uint64_t start = monotonic_ns();
      link_->prepare_help();
      GT_TRY(send(false));
      GT_TRY(answers_.wait(++expected_, *link_));
      times.push_back(static_cast<double>(monotonic_ns() - start));
      if (!bare_.open()) continue;
      const uint64_t bare_start = monotonic_ns();
      GT_TRY(bare_.move(BareOperation::Echo, Frame, memory_));
      bare.push_back(static_cast<double>(monotonic_ns() - bare_start));
    }
    out.round_trip_ns = median(times);
    std::sort(times.begin(), times.end());
    out.round_trip_p99_ns = times[times.size() * 99 / 100];
    if (!bare.empty()) out.bare_round_trip_ns = median(bare);
    return command_time(out, rounds);
  }

  Status sizes(LinkResult& out) {
    for (size_t bytes = 64; bytes <= MostBytes; bytes *= 8) {
      LinkSize s;
      s.bytes = bytes;
      std::vector<double> put, get, bare_put, bare_get;
      for (int turn = 0; turn < (quick_ ? 3 : 7); ++turn) {
        double ns = 0;
        GT_TRY(row(bytes, true, ns));
        put.push_back(ns);
        GT_TRY(row(bytes, false, ns));
        get.push_back(ns);
        GT_TRY(bare_row(bytes, true, ns));
        bare_put.push_back(ns);
        GT_TRY(bare_row(bytes, false, ns));
        bare_get.push_back(ns);
      }
      s.put_ns = median(put), s.get_ns = median(get);
      s.bare_put_ns = median(bare_put), s.bare_get_ns = median(bare_get);
      out.sizes.push_back(s);
    }
    if (auto* const tcp = dynamic_cast<wire::TcpLink*>(link_.get())) {
      const wire::DelayWindow window = tcp->window();
      out.window_bytes = window.bytes();
      out.base_ns = static_cast<double>(window.base_ns());
      out.target_ns = static_cast<double>(window.target_ns());
    }
    return {};
  }

 private:
  Status send(bool more) {
    const ByteView part[] = {{memory_.data(), Frame}};
    return link_->send(part, more);
  }

  Status command_time(LinkResult& out, int rounds) {
    std::vector<double> times;
    for (int row = 0; row < 10; ++row) {
      const uint64_t start = monotonic_ns();
      for (int i = 0; i < rounds / 10; ++i) GT_TRY(send(true));
      times.push_back(static_cast<double>(monotonic_ns() - start) / (rounds / 10));
      GT_TRY(link_->push());
      GT_TRY(answers_.wait(expected_ += static_cast<uint64_t>(rounds / 10), *link_));
    }
    out.command_ns = median(times);
    return {};
  }

  size_t count(size_t bytes) const { return std::clamp<size_t>((quick_ ? MostBytes / 4 : MostBytes) / bytes, 1, 512); }

  // Time of one, of as many as fit into the memory.
  Status row(size_t bytes, bool put, double& ns) {
    const size_t n = count(bytes);
    const uint64_t start = monotonic_ns();
    for (size_t i = 0; i < n; ++i) {
      uint8_t* const here = memory_.data() + i * bytes % MostBytes;
      const wire::Address there{greeting_.segment, i * bytes % MostBytes};
      put ? link_->put(here, there, bytes) : link_->get(here, there, bytes);
    }
    GT_TRY(link_->flush());
    ns = static_cast<double>(monotonic_ns() - start) / static_cast<double>(n);
    return {};
  }

  Status bare_row(size_t bytes, bool put, double& ns) {
    const size_t n = count(bytes);
    const uint64_t start = monotonic_ns();
    if (bare_.open()) {
      GT_TRY(bare_.move(put ? BareOperation::Take : BareOperation::Give, n * bytes, memory_));
    } else if (greeting_.bare_port == 0) {
      for (size_t i = 0; i < n; ++i) {
        std::memcpy(other_.data() + i * bytes % MostBytes, memory_.data() + i * bytes % MostBytes, bytes);
        asm volatile("" : : "r"(other_.data()) : "memory");
      }
    } else {
      ns = 0;
      return {};
    }
    ns = static_cast<double>(monotonic_ns() - start) / static_cast<double>(n);
    return {};
  }

  std::unique_ptr<wire::Link> link_;
  const bool quick_;
  Answers answers_;
  uint64_t expected_ = 1;
  EchoGreeting greeting_;
  BareSocket bare_;
  Bytes memory_ = Bytes(MostBytes, 1), other_ = Bytes(MostBytes, 1);
};

}  // namespace

Result<LinkResult> measure_link(const wire::Url& url, const wire::Credentials& credentials, bool quick) {
  auto link = wire::connect(url, credentials);
  if (!link) return link.status();
  LinkResult out;
  out.url = wire::to_text(url);
  Probe probe(std::move(*link), quick);
  GT_TRY(probe.begin(url));
  GT_TRY(probe.latency(out));
  GT_TRY(probe.sizes(out));
  return out;
}

}  // namespace gt::bench
