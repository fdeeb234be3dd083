// trace.contents: what is written is read back, once each; damage is told, never suffered.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "traces/contents/content_reader.h"
#include "traces/contents/content_writer.h"

namespace fs = std::filesystem;
using namespace gt;
using namespace gt::contents;

namespace {

struct Scratch {
  fs::path dir;
  Scratch() {
    std::string name = (fs::temp_directory_path() / "gt_contents_XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()));
    dir = name;
  }
  ~Scratch() { fs::remove_all(dir); }
  std::string path(const char* name) const { return (dir / name).string(); }
};

constexpr Key SomeKey{1, 2, 3, 0xab};

Bytes random_bytes(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(n);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
  return bytes;
}
Bytes text_bytes(std::string_view text) { return {text.begin(), text.end()}; }

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void spill(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

ContentWriter writer_of(const std::string& path) {
  Result<ContentWriter> writer = ContentWriter::open(path, SomeKey);
  REQUIRE(writer.ok());
  return std::move(*writer);
}
ContentReader reader_of(const std::string& path) {
  Result<ContentReader> reader = ContentReader::open(path, key_text(SomeKey));
  REQUIRE_MESSAGE(reader.ok(), reader.status().text());
  return std::move(*reader);
}
Bytes content_of(const ContentReader& reader, uint32_t process, int64_t number) {
  Bytes bytes;
  const Status s = reader.read(process, number, bytes);
  CHECK_MESSAGE(s.ok(), s.text());
  return bytes;
}

// A small file with a bit of everything.
std::string small_file(const Scratch& scratch) {
  const std::string path = scratch.path("small");
  ContentWriter writer = writer_of(path);
  CHECK(writer.add(0, 0, text_bytes("hello")));
  CHECK(writer.add(0, 1, Bytes(300, 7)));
  CHECK(writer.add_file(0, 1, "/usr/include/a.h"));
  CHECK(writer.add(1, 0, text_bytes("world")));
  writer.close();
  return slurp(path);
}

}  // namespace

TEST_CASE("contents are read back, of all sizes around a chunk's") {
  const Scratch scratch;
  const std::string path = scratch.path("c");
  const size_t sizes[] = {1, 63, 64, 1000, ChunkBytes - 1, ChunkBytes, ChunkBytes + 1, 3 * ChunkBytes,
                          5 * ChunkBytes + 9};
  {
    ContentWriter writer = writer_of(path);
    int64_t number = 0;
    for (const size_t size : sizes) CHECK(writer.add(3, number++, random_bytes(size, static_cast<unsigned>(size))));
    CHECK(writer.add(4, 0, {}));
    CHECK(writer.add_file(3, 1, "include/a.h"));
    writer.close();
    CHECK(writer.trouble().ok());
    CHECK(writer.contents() == std::size(sizes) + 1);
    CHECK(writer.file_bytes() == fs::file_size(path));
  }
  const ContentReader reader = reader_of(path);
  CHECK(reader.trouble().ok());
  CHECK(reader.check_all().ok());
  int64_t number = 0;
  for (const size_t size : sizes) {
    CHECK(reader.size_of(3, number) == size);
    CHECK(content_of(reader, 3, number++) == random_bytes(size, static_cast<unsigned>(size)));
  }
  CHECK(reader.has(4, 0));
  CHECK(content_of(reader, 4, 0).empty());
  CHECK(!reader.has(4, 1));
  CHECK(!reader.has(0, 0));
  REQUIRE(reader.files().size() == 1);
  CHECK(reader.files()[0].path == "include/a.h");
  Bytes none;
  const Status missing = reader.read(4, 1, none);
  CHECK(missing.kind() == Kind::Corrupt);
  CHECK(missing.text() == path + ": content 1 of process 4 is not in it");
  CHECK(reader.read(3, 8, none, 1000).text().find("more than 1000") != std::string::npos);
}

TEST_CASE("the same bytes are stored once") {
  const Scratch scratch;
  const std::string path = scratch.path("c");
  const Bytes matrix = random_bytes(4 << 20, 1);
  ContentWriter writer = writer_of(path);
  for (int64_t i = 0; i < 20; ++i) CHECK(writer.add(0, i, matrix));
  CHECK(writer.add(1, 0, Bytes(8 << 20, 0)));  // one chunk, again and again
  writer.close();
  CHECK(writer.content_bytes() == (20 * 4 << 20) + (8 << 20));
  CHECK(fs::file_size(path) < matrix.size() + matrix.size() / 100);
  const ContentReader reader = reader_of(path);
  CHECK(reader.chunks() == 64 + 1);
  CHECK(content_of(reader, 0, 19) == matrix);
  CHECK(content_of(reader, 1, 0) == Bytes(8 << 20, 0));
}

TEST_CASE("what was committed is there when the writer never comes to its end") {
  const Scratch scratch;
  const std::string path = scratch.path("c");
  {
    ContentWriter writer = writer_of(path);
    CHECK(writer.add(0, 0, random_bytes(100, 1)));
    writer.commit();
    CHECK(writer.add(0, 1, random_bytes(100, 2)));
  }
  const ContentReader reader = reader_of(path);
  CHECK(reader.trouble().text() == path + ": was cut short, or its recording did not end: 1 contents are whole");
  CHECK(content_of(reader, 0, 0) == random_bytes(100, 1));
  CHECK(!reader.has(0, 1));
}

TEST_CASE("cut short anywhere: what lies before is read, and the rest is told") {
  const Scratch scratch;
  const std::string whole = small_file(scratch), path = scratch.path("cut");
  for (size_t n = 0; n < whole.size(); ++n) {
    CAPTURE(n);
    spill(path, std::string_view(whole).substr(0, n));
    Result<ContentReader> reader = ContentReader::open(path);
    if (n < sizeof(FileHeader)) {
      CHECK(reader.status().kind() == Kind::Corrupt);
      continue;
    }
    REQUIRE(reader.ok());
    CHECK(reader->trouble().kind() == Kind::Corrupt);
    CHECK(reader->trouble().text().find('\n') == std::string::npos);
    for (const auto& [process, number] : reader->numbers()) {
      const std::string_view expected = process == 1 ? "world" : "hello";
      const Bytes bytes = content_of(*reader, process, number);
      CHECK(bytes == (number == 1 ? Bytes(300, 7) : text_bytes(expected)));
    }
  }
}

TEST_CASE("damaged in any byte: nothing wrong is read") {
  const Scratch scratch;
  const std::string whole = small_file(scratch), path = scratch.path("damaged");
  for (size_t n = 0; n < whole.size(); ++n) {
    for (const char change : {'\x01', '\x80', '\xff'}) {
      CAPTURE(n);
      std::string bad = whole;
      bad[n] = static_cast<char>(bad[n] ^ change);
      spill(path, bad);
      Result<ContentReader> reader = ContentReader::open(path);
      if (!reader) continue;
      const bool told = !reader->trouble().ok() || !reader->check_all().ok();
      size_t read = 0;  // a few bits of a zstd frame mean nothing
      for (const auto& [process, number] : reader->numbers()) {
        Bytes bytes;
        if (!reader->read(process, number, bytes).ok()) continue;
        CHECK(bytes == (number == 1 ? Bytes(300, 7) : text_bytes(process == 1 ? "world" : "hello")));
        ++read;
      }
      CHECK((told || read == 3));
    }
  }
}

TEST_CASE("strangers are refused, each for its reason") {
  const Scratch scratch;
  const std::string whole = small_file(scratch), path = scratch.path("other");
  const auto refused = [&](std::string_view bytes, std::string_view key = {}) {
    spill(path, bytes);
    return ContentReader::open(path, key).status();
  };
  CHECK(refused("SQLite format 3" + std::string(500, '\0')).kind() == Kind::Corrupt);
  CHECK(refused("").kind() == Kind::Corrupt);
  CHECK(refused(std::string(5000, 'x')).text().find("it begins otherwise") != std::string::npos);
  CHECK(refused(whole, key_text(Key{9})).kind() == Kind::Invalid);
  CHECK(refused(whole, key_text(Key{9})).text() == path + ": belongs to another trace");
  CHECK(refused(whole, key_text(SomeKey)).ok());
  std::string later = whole;
  later[16] = 2;
  CHECK(refused(later).kind() == Kind::Unsupported);
  CHECK(ContentReader::open(scratch.path("nothing")).status().kind() == Kind::System);
  CHECK(ContentReader::open(scratch.dir.string()).status().kind() == Kind::Corrupt);
}

TEST_CASE("a chunk that is missing is named") {
  const Scratch scratch;
  const std::string path = scratch.path("c");
  ContentWriter writer = writer_of(path);
  const uint32_t there = writer.add_chunk(random_bytes(100, 1));
  CHECK(writer.add_content({0, 7, 100}, std::vector<uint32_t>{there + 41}));
  CHECK(writer.add_content({0, 8, 99}, std::vector<uint32_t>{there}));
  writer.close();
  Bytes bytes;
  const ContentReader reader = reader_of(path);
  CHECK(reader.read(0, 7, bytes).text() == path + ": chunk 41 of content 7 of process 0 is missing");
  CHECK(reader.read(0, 8, bytes).text() == path + ": chunk 0 of content 8 of process 0 has another size");
}

TEST_CASE("the limit holds, and what does not fit is left out whole") {
  const Scratch scratch;
  const std::string path = scratch.path("c");
  constexpr uint64_t Most = 300'000;
  ContentWriter writer = writer_of(path);
  writer.limit(Most);
  int64_t kept = 0;
  for (int64_t i = 0; i < 10; ++i) {
    if (!writer.add(0, i, random_bytes(ChunkBytes, static_cast<unsigned>(i)))) continue;
    CHECK(kept++ == i);
  }
  CHECK(kept == 4);
  writer.close();
  CHECK(fs::file_size(path) <= Most);
  const ContentReader reader = reader_of(path);
  CHECK(reader.trouble().ok());
  CHECK(reader.contents() == 4);
}

TEST_CASE("a full disk: what was there stays whole, and it is told") {
  const Scratch scratch;
  const std::string path = scratch.path("c");
  ContentWriter writer = writer_of(path);
  CHECK(writer.add(0, 0, random_bytes(ChunkBytes, 1)));
  writer.commit();
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto ignore = signal(SIGXFSZ, SIG_IGN);
  rlimit full = before;
  full.rlim_cur = writer.file_bytes() + 1000;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &full) == 0);
  CHECK(writer.add(0, 1, random_bytes(ChunkBytes, 2)));
  writer.commit();
  CHECK(writer.trouble().kind() == Kind::System);
  CHECK(!writer.add(0, 2, random_bytes(10, 3)));
  writer.close();
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, ignore);
  const ContentReader reader = reader_of(path);
  CHECK(content_of(reader, 0, 0) == random_bytes(ChunkBytes, 1));
  CHECK(!reader.has(0, 1));
}

TEST_CASE("the file lies beside its trace") {
  CHECK(path_beside("trace.db") == "trace.contents");
  CHECK(path_beside("a.b/trace") == "a.b/trace.contents");
  CHECK(path_beside("/x/t.1.db") == "/x/t.1.contents");
  CHECK(path_beside(".db") == ".db.contents");
}
