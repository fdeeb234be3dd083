// A TCP relay with faults, between two ends of a test: delay, rate, cut, half-open connections, garbage.
//
// Each direction of each connection is a queue of bytes with the time at which they may go on.
// Thread safety: all functions; a thread of its own does the work.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

namespace gt::relay {

class Relay {
 public:
  // Listens on a free port of 127.0.0.1 and connects to `target_port` there for each connection.
  explicit Relay(uint16_t target_port);
  ~Relay();

  uint16_t port() const { return port_; }
  void delay_us(uint64_t us) { delay_ns_ = us * 1000; }    // one way
  void rate(uint64_t bytes_per_s) { rate_ = bytes_per_s; }  // each way; 0: no limit
  // Ends all connections; new ones end at once until heal().
  void cut() { cut_ = true; poke(); }
  // Connections stay, but nothing passes; what is sent meanwhile is lost. Until heal().
  void swallow() { swallow_ = true; poke(); }
  void heal();
  // Puts random bytes into the streams towards the target, once.
  void garbage() { garbage_ = true; poke(); }
  uint64_t bytes() const { return bytes_; }

 private:
  struct State;
  void run();
  void poke();

  uint16_t target_port_, port_ = 0;
  int listener_ = -1, wake_ = -1;
  std::atomic<uint64_t> delay_ns_{0}, rate_{0}, bytes_{0};
  std::atomic<bool> cut_{false}, swallow_{false}, garbage_{false}, stop_{false};
  std::thread thread_;
};

}  // namespace gt::relay
