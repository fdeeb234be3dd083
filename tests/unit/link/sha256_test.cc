// SHA-256 and HMAC against the vectors of FIPS 180-4 (NIST's examples) and RFC 4231.
#include "transport/link/hello/sha256.h"

#include <doctest/doctest.h>

#include <string>

namespace gt::wire {
namespace {

std::string hex(const Digest& digest) {
  std::string out;
  for (const uint8_t b : digest) {
    out += "0123456789abcdef"[b >> 4];
    out += "0123456789abcdef"[b & 15];
  }
  return out;
}

std::string hash(std::string_view text, size_t step = 1000) {
  Sha256 h;
  for (size_t i = 0; i < text.size(); i += step) h.add(as_bytes(text.substr(i, step)));
  return hex(h.finish());
}

TEST_CASE("SHA-256 of the standard's messages") {
  CHECK(hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hash(std::string(1'000'000, 'a'), 77) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("HMAC-SHA-256 of RFC 4231") {
  const auto mac = [](const Bytes& key, std::string_view text) {
    const ByteView parts[] = {as_bytes(text.substr(0, 5)), as_bytes(text.substr(5))};
    return hex(hmac_sha256(key, parts));
  };
  CHECK(mac(Bytes(20, 0x0b), "Hi There") == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(mac({'J', 'e', 'f', 'e'}, "what do ya want for nothing?") ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(mac(Bytes(131, 0xaa), "Test Using Larger Than Block-Size Key - Hash Key First") ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST_CASE("digests are compared in every byte") {
  Digest a{}, b{};
  CHECK(same_digest(a, b));
  b[31] = 1;
  CHECK_FALSE(same_digest(a, b));
}

}  // namespace
}  // namespace gt::wire
