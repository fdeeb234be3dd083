// The hello, with which a client's connection begins, and its answer. Thread safety: values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "traces/base/status.h"

namespace gt::wire {

using SessionId = std::array<uint8_t, 16>;  // random, made by the client; of a peer's session: by the server

struct Hello {
  enum class Purpose : uint8_t { Session = 1, Data = 2, Resume = 3, Peer = 4 };
  enum class Proof : uint8_t { Token = 1, Certificate = 2, SameUser = 3 };
  uint16_t version_low = 0, version_high = 0;  // of docs/links.md
  Purpose purpose = Purpose::Session;
  Proof proof = Proof::Token;
  bool tls = false;
  SessionId session{};
  std::array<uint8_t, 32> nonce{};
};
constexpr size_t HelloBytes = 64;
constexpr uint16_t OldestVersion = 1, NewestVersion = 1;

std::array<uint8_t, HelloBytes> to_bytes(const Hello& hello);
Result<Hello> hello_from_bytes(const std::array<uint8_t, HelloBytes>& bytes);

Status fill_random(std::span<uint8_t> bytes);

// Reads a hello as its bytes come in; never blocks, never reads beyond it.
class HelloReader {
 public:
  // Nothing: not all of it is there yet. Errors: Corrupt (not a hello), Disconnected, System.
  Result<std::optional<Hello>> read(int fd);

 private:
  std::array<uint8_t, HelloBytes> bytes_{};
  size_t have_ = 0;
};

// Why a connection is not taken: the client's error says so.
enum class Refusal : uint16_t { Version = 1, Unauthorized = 2, NoSession = 3, Busy = 4, Draining = 5, Proof = 6 };
// Tells the client in a few bytes, without waiting; who calls closes the descriptor.
void refuse(int fd, Refusal why);

// The answer to a hello, in clear: the version chosen, or why not.
constexpr size_t AnswerBytes = 8;
std::array<uint8_t, AnswerBytes> answer_bytes(uint16_t version, uint16_t refusal);
Result<uint16_t> read_answer(const std::array<uint8_t, AnswerBytes>& bytes);

// What a refusal means to the client's user. The status' code is the refusal's, from here on.
constexpr int FirstRefusalCode = 10000;
Status refused(uint16_t code);

}  // namespace gt::wire
