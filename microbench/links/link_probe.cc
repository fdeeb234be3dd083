#include "microbench/links/link_probe.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "microbench/links/echo.h"
#include "traces/base/clock.h"
#include "transport/link/sockets.h"
#include "transport/link/tcp_link.h"

namespace gt::bench {
namespace {

constexpr size_t Frame = 32;
constexpr uint64_t Wait_ms = 30'000;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Answers final : public wire::LinkHandler {
 public:
  void on_frame(ByteView frame) override {
    const std::lock_guard lock(mutex_);
    last_.assign(frame.begin(), frame.end());
    ++count_;
    changed_.notify_all();
  }
  void on_put(wire::Notice, size_t) override {}
  void on_closed(const Status& why) override {
    const std::lock_guard lock(mutex_);
    closed_ = why;
    changed_.notify_all();
  }
  // As a program does that waits for an answer.
  Status wait(uint64_t count, wire::Link& link) {
    link.help([&] { return count_.load() >= count; });
    std::unique_lock lock(mutex_);
    const auto there = [&] { return count_ >= count || !closed_.ok(); };
    if (!changed_.wait_for(lock, std::chrono::milliseconds(Wait_ms), there))
      return {Kind::Disconnected, "the other side does not answer"};
    return count_ >= count ? Status() : closed_;
  }
  const Bytes& last() const { return last_; }  // after wait()

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<uint64_t> count_{0};
  Bytes last_;
  Status closed_;
};

class Probe {
 public:
  Probe(std::unique_ptr<wire::Link> link, bool quick) : link_(std::move(link)), quick_(quick) {}
  ~Probe() {
    link_->close();
    link_.reset();
  }

  Status begin(const wire::Url& url) {
    GT_TRY(link_->start(answers_));
    GT_TRY(answers_.wait(1, *link_));
    if (answers_.last().size() != sizeof greeting_) return {Kind::Corrupt, "no gmicrobench link --serve is there"};
    std::memcpy(&greeting_, answers_.last().data(), sizeof greeting_);
    if (greeting_.magic != EchoGreeting().magic) return {Kind::Corrupt, "no gmicrobench link --serve is there"};
    if (greeting_.bare_port == 0) return {};
    wire::Url bare = url;
    bare.port = static_cast<uint16_t>(greeting_.bare_port);
    auto fd = wire::connect_to(bare, wire::Deadline::in_ms(2000));
    if (fd) bare_ = wire::Socket(std::move(*fd));  // a firewall may keep it out: then there is no comparison
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
      GT_TRY(transfer_bare(BareOperation::Echo, Frame));
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
      GT_TRY(transfer_bare(put ? BareOperation::Take : BareOperation::Give, n * bytes));
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

  Status transfer_bare(BareOperation operation, size_t bytes) {
    const wire::Deadline deadline = wire::Deadline::in_ms(Wait_ms);
    const BareRequest request{operation, bytes};
    GT_TRY(bare_.write_all({reinterpret_cast<const uint8_t*>(&request), sizeof request}, deadline));
    if (operation != BareOperation::Give) GT_TRY(bare_.write_all({memory_.data(), bytes}, deadline));
    return bare_.read_all({memory_.data(), operation == BareOperation::Take ? 1 : bytes}, deadline);
  }

  std::unique_ptr<wire::Link> link_;
  const bool quick_;
  Answers answers_;
  uint64_t expected_ = 1;
  EchoGreeting greeting_;
  wire::Socket bare_;
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
