// The bytes of the hello and of its answer; for both sides of a handshake. Thread safety: values.
#pragma once

#include "transport/link/connect.h"

namespace gt::wire {

std::array<uint8_t, HelloBytes> to_bytes(const Hello& hello);
Result<Hello> hello_from_bytes(const std::array<uint8_t, HelloBytes>& bytes);

Status fill_random(std::span<uint8_t> bytes);

// The answer to a hello, in clear: the version chosen, or why not.
constexpr size_t AnswerBytes = 8;
std::array<uint8_t, AnswerBytes> answer_bytes(uint16_t version, uint16_t refusal);
Result<uint16_t> read_answer(const std::array<uint8_t, AnswerBytes>& bytes);

// What a refusal means to the client's user. The status' code is the refusal's, from here on.
constexpr int FirstRefusalCode = 10000;
Status refused(uint16_t code);

}  // namespace gt::wire
