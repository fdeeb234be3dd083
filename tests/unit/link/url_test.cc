// URLs and token files.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/link/link_pairs.h"

namespace gt::wire {
namespace {

TEST_CASE("URLs that are understood, and their text") {
  for (const char* text :
       {"shm:gpu0", "shm:/run/gtrace.sock", "tcp://node3:7000", "tls://10.0.0.1:1", "tcp://[::1]:80"}) {
    const auto url = parse_url(text);
    REQUIRE_MESSAGE(url, text);
    CHECK(to_text(*url) == text);
  }
  CHECK(parse_url("tcp://node3")->port == DefaultPort);
  CHECK(parse_url("tcp://node3/")->host == "node3");
  CHECK(parse_url("tls://[fe80::1]")->host == "fe80::1");
  CHECK(socket_path(*parse_url("shm:/run/x.sock")) == "/run/x.sock");
  CHECK(is_local(*parse_url("tcp://127.0.0.1:5")));
  CHECK_FALSE(is_local(*parse_url("tcp://10.0.0.1:5")));
}

TEST_CASE("URLs that are refused") {
  for (const char* text : {"", "node3", "http://node3", "tcp:node3", "tcp://", "tcp://:5", "tcp://a:b", "tcp://a:70000",
                           "tcp://a:5x", "tcp://[::1", "tcp://[::1]5", "shm:", "shm://x", "tcp://a b:1"}) {
    const auto url = parse_url(text);
    CHECK_MESSAGE(!url, text);
    CHECK(url.status().kind() == Kind::Invalid);
  }
}

TEST_CASE("a token file is made once, for its owner only") {
  const std::string path = scratch_folder() + "/token";
  const auto made = make_token(path);
  REQUIRE(made);
  CHECK(made->size() == TokenBytes);
  CHECK(*read_token(path) == *made);
  CHECK(make_token(path).status().kind() == Kind::Busy);
  ::chmod(path.c_str(), 0640);
  CHECK(read_token(path).status().kind() == Kind::Invalid);
  ::chmod(path.c_str(), 0600);
  std::ofstream(path, std::ios::app) << "00";
  CHECK(read_token(path).status().kind() == Kind::Invalid);
  std::ofstream(path) << std::string(63, 'a') << "g";
  CHECK(read_token(path).status().kind() == Kind::Invalid);
  CHECK(read_token(path + ".none").status().kind() == Kind::System);
}

}  // namespace
}  // namespace gt::wire
