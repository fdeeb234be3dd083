// Contents on their way into their file: pieces, then the record that says whose they are.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "tracer/collect/kept_contents.h"
#include "traces/contents/content_reader.h"

using namespace gt;
using namespace gt::tracer;

namespace {

struct Program {
  std::vector<model::Module> modules;
  TracedProcess process{0, 1, modules};
  TracedThread one = thread(0), other = thread(1);

  TracedThread thread(uint32_t id) {
    TracedThread made{};
    made.id = id;
    made.process = &process;
    return made;
  }
};

Bytes piece_of(ByteView bytes, uint64_t stated) {
  ByteWriter out;
  out.fixed64(stated);
  out.raw(bytes.data(), bytes.size());
  return out.take();
}
Bytes piece_of(ByteView bytes) { return piece_of(bytes, bytes.size()); }

std::string fact(const KeptContents& contents, const std::string& name) {
  std::vector<std::pair<std::string, std::string>> facts;
  contents.add_facts(facts);
  for (const auto& [n, value] : facts)
    if (n == name) return value;
  return {};
}

struct KeptFile {
  std::string path = "/tmp/gt_kept_contents_" + std::to_string(::getpid());
  KeptContents contents;
  KeptFile() { REQUIRE(contents.keep_in(path, 0).ok()); }
  ~KeptFile() { ::unlink(path.c_str()); }
  contents::ContentReader read() {
    contents.close();
    auto reader = contents::ContentReader::open(path, fact(contents, "contents.key"));
    REQUIRE_MESSAGE(reader.ok(), reader.status().text());
    CHECK(reader->trouble().ok());
    return std::move(*reader);
  }
};

std::string text_of(const contents::ContentReader& reader, int64_t number) {
  Bytes bytes;
  return reader.read(0, number, bytes).ok() ? std::string(as_text(bytes)) : "?";
}

}  // namespace

TEST_CASE("the pieces of threads that send at the same time do not mix") {
  Program p;
  KeptFile file;
  const Bytes whole(contents::ChunkBytes, 'a');
  CHECK(file.contents.take_piece(p.one, piece_of(whole)));
  CHECK(file.contents.take_piece(p.other, piece_of(as_bytes("other"))));
  CHECK(file.contents.take_piece(p.one, piece_of(as_bytes("end"))));
  file.contents.take(p.other, 0, 5);
  file.contents.take(p.one, 1, whole.size() + 3);
  file.contents.take(p.one, 0, 5);  // known: no bytes come with it
  const contents::ContentReader reader = file.read();
  CHECK(text_of(reader, 0) == "other");
  CHECK(text_of(reader, 1) == std::string(whole.size(), 'a') + "end");
  CHECK(fact(file.contents, "contents.stored") == "2");
  CHECK(fact(file.contents, "lost.contents_missing") == "0");
}

TEST_CASE("a content that does not come whole is counted, and stored when it does") {
  Program p;
  KeptFile file;
  file.contents.take(p.one, 0, 5);
  CHECK(file.contents.take_piece(p.one, piece_of(as_bytes("hel"))));
  file.contents.take(p.one, 0, 5);
  CHECK(fact(file.contents, "lost.contents_missing") == "2");
  CHECK(file.contents.take_piece(p.one, piece_of(as_bytes("hello"))));
  file.contents.take(p.one, 0, 5);
  CHECK(text_of(file.read(), 0) == "hello");
}

TEST_CASE("pieces that make no sense are refused") {
  Program p;
  KeptFile file;
  CHECK(!file.contents.take_piece(p.one, {}));
  CHECK(!file.contents.take_piece(p.one, piece_of({})));
  CHECK(!file.contents.take_piece(p.one, piece_of(as_bytes("short"), 6)));
  CHECK(!file.contents.take_piece(p.one, piece_of(Bytes(contents::ChunkBytes + 1))));
  file.contents.take(p.one, 0, 0);
  CHECK(file.read().contents() == 1);  // of no bytes
}

TEST_CASE("a file is kept once for each path and text") {
  Program p;
  KeptFile file;
  file.contents.add_file(p.process, "/a.h", "one");
  file.contents.add_file(p.process, "/a.h", "one");
  file.contents.add_file(p.process, "/b.h", "one");
  file.contents.add_file(p.process, "/a.h", "two");
  const contents::ContentReader reader = file.read();
  REQUIRE(reader.files().size() == 3);
  CHECK(reader.chunks() == 2);
  for (const contents::UsedFile& used : reader.files()) CHECK(used.number >= contents::FirstFileNumber);
  CHECK(text_of(reader, reader.files()[2].number) == "two");
}

TEST_CASE("without a file nothing is kept, and nothing is said") {
  Program p;
  KeptContents contents;
  CHECK(contents.take_piece(p.one, piece_of(as_bytes("hello"))));
  contents.take(p.one, 0, 5);
  CHECK(!contents.kept());
  CHECK(fact(contents, "contents.key").empty());
}
