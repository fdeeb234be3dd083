// What gtrace view answers to requests, and the address of a file.
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "tracer/gtrace/view/page_file.h"
#include "tracer/gtrace/view/page_server.h"

using namespace gt::tracer::view;

namespace {

constexpr const char* Path = "/0123456789abcdef0123456789abcdef/";

Answer asked(const std::string& line) { return answer_to(line + "\r\nHost: x\r\n\r\n", Path, 1000); }

std::string status_of(const std::string& line) { return asked(line).head.substr(9, 3); }

}  // namespace

TEST_CASE("the page is at its path alone") {
  const Answer page = asked(std::string("GET ") + Path + " HTTP/1.1");
  CHECK(page.with_page);
  CHECK(page.head.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(page.head.find("Content-Length: 1000\r\n") != page.head.npos);
  CHECK(page.head.ends_with("\r\n\r\n"));
  for (const char* other :
       {"/", "/favicon.ico", "/0123456789abcdef0123456789abcdef", "/0123456789abcdef0123456789abcdee/",
        "/0123456789abcdef0123456789abcdef//", "//0123456789abcdef0123456789abcdef/", "", "*"}) {
    CAPTURE(other);
    CHECK(status_of(std::string("GET ") + other + " HTTP/1.1") == "404");
  }
}

TEST_CASE("an answer to HEAD has no page, and other methods are refused") {
  const Answer head = asked(std::string("HEAD ") + Path + " HTTP/1.0");
  CHECK(!head.with_page);
  CHECK(head.head.find("Content-Length: 1000\r\n") != head.head.npos);
  for (const char* method : {"POST", "PUT", "get", "GETS", "OPTIONS"})
    CHECK(status_of(std::string(method) + " " + Path) == "405");
}

TEST_CASE("what is no request is refused") {
  CHECK(status_of("GET") == "400");
  CHECK(status_of("") == "400");
  CHECK(status_of(" ") == "405");
  CHECK(status_of(std::string("GET ") + Path) == "200");  // HTTP/0.9's form, as text servers take it
  CHECK(status_of(std::string("GET  ") + Path) == "404");
  CHECK(answer_to(std::string("\0\0\0", 3), Path, 1).head.substr(9, 3) == "400");
}

TEST_CASE("the address of a file has no character that means something to a shell") {
  CHECK(file_address("/tmp/gtrace-view-aB3/page.html") == "file:///tmp/gtrace-view-aB3/page.html");
  CHECK(file_address("/a b/%.html") == "file:///a%20b/%25.html");
  CHECK(file_address("/ü") == "file:///%C3%BC");
  std::string all = "/";
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  for (const char c : file_address(all)) CHECK(std::strchr(" \t\n\"'`$&;|<>()[]{}*?!~#\\", c) == nullptr);
}
