// trace.db: what is written is read back; size does not depend on counters; damage is told, never suffered.
#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "tests/unit/sample_trace.h"
#include "traces/model/fold/fold.h"
#include "traces/store/digest.h"
#include "traces/store/trace_db.h"

namespace fs = std::filesystem;
using namespace gt;
using namespace gt::testing;

namespace {

// A directory that goes away with its contents.
struct Scratch {
  fs::path dir;
  Scratch() {
    std::string name = (fs::temp_directory_path() / "gt_store_XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()));
    dir = name;
  }
  ~Scratch() { fs::remove_all(dir); }
  std::string path(const char* name) const { return (dir / name).string(); }
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(dir), {})); }
};

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void spill(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Everything in a node list, for comparison.
Bytes flat(const std::vector<Node>& nodes) {
  ByteWriter out;
  encode_nodes(out, nodes);
  return out.take();
}

void check_same(const Trace& a, const Trace& b) {
  CHECK(a.facts == b.facts);
  REQUIRE(a.processes.size() == b.processes.size());
  for (size_t i = 0; i < a.processes.size(); ++i) {
    CHECK(a.processes[i].arguments == b.processes[i].arguments);
    CHECK(a.processes[i].executable == b.processes[i].executable);
    CHECK(a.processes[i].end_ns == b.processes[i].end_ns);
    CHECK(a.processes[i].exit_code == b.processes[i].exit_code);
  }
  CHECK(a.classes == b.classes);
  CHECK(a.shapes == b.shapes);
  REQUIRE(a.blobs.size() == b.blobs.size());
  for (size_t i = 0; i < a.blobs.size(); ++i) {
    CHECK(a.blobs[i].bytes == b.blobs[i].bytes);
    CHECK(a.blobs[i].full_size == b.blobs[i].full_size);
  }
  REQUIRE(a.stats.size() == b.stats.size());
  for (size_t i = 0; i < a.stats.size(); ++i) {
    CHECK(a.stats[i].calls == b.stats[i].calls);
    CHECK(a.stats[i].host_ns.sum == b.stats[i].host_ns.sum);
    CHECK(a.stats[i].device_ns.histogram == b.stats[i].device_ns.histogram);
    CHECK(a.stats[i].bytes.max == b.stats[i].bytes.max);
  }
  REQUIRE(a.streams.size() == b.streams.size());
  for (size_t i = 0; i < a.streams.size(); ++i) CHECK(flat(a.streams[i].nodes) == flat(b.streams[i].nodes));
  REQUIRE(a.modules.size() == b.modules.size());
  CHECK(a.modules[0].base == b.modules[0].base);
  CHECK(a.modules[0].build_id == b.modules[0].build_id);
  REQUIRE(a.kernels.size() == b.kernels.size());
  CHECK(a.kernels[0].name == b.kernels[0].name);
  CHECK(a.kernels[0].options == b.kernels[0].options);
  CHECK(a.devices.size() == b.devices.size());
}

// A trace with one of everything that the format can hold.
Trace rich_trace() {
  Trace t = paper_loop(4);
  t.blobs.push_back({Bytes(300, 'x'), 1000});  // cut
  t.blobs.push_back({{}, 0});
  t.sites.push_back({NoIndex, 0xffff'ffff'ffff'ffff});
  Node inner = TraceBuilder::loop(
      column({1, 2, 3}), {TraceBuilder::call(1, {periodic({0, 1}), column({0, 8, 8, 0, 8, 16})})});
  std::vector<Node> body;
  body.push_back(std::move(inner));
  t.streams[0].nodes.push_back(TraceBuilder::loop(Series(3), std::move(body)));
  t.stats[0].host_ns.histogram.fill(7);
  t.facts.emplace_back("odd", std::string("\xff\xfe", 2));
  return t;
}

std::string text_of(const Result<Trace>& r) { return r.status().text(); }

}  // namespace

TEST_CASE("what is written is read back") {
  Scratch s;
  const Trace before = rich_trace();
  REQUIRE(store::write_trace(s.path("trace.db"), before).ok());
  const Result<Trace> after = store::read_trace(s.path("trace.db"));
  REQUIRE_MESSAGE(after.ok(), text_of(after));
  check_same(before, *after);
  CHECK(store::trace_digest(before) == store::trace_digest(*after));
  CHECK(s.files() == 1);  // nothing temporary stays
}

TEST_CASE("an empty trace is a trace") {
  Scratch s;
  REQUIRE(store::write_trace(s.path("t.db"), Trace{}).ok());
  CHECK(store::read_trace(s.path("t.db")).ok());
}

TEST_CASE("size and digest do not depend on the iteration count") {
  Scratch s;
  std::string digest;
  uintmax_t bytes = 0;
  for (const int64_t n : std::initializer_list<int64_t>{10, 1000, 100'000, 10'000'000, 4'000'000'000}) {
    const Trace t = paper_loop(n);
    REQUIRE(store::write_trace(s.path("t.db"), t).ok());
    if (bytes == 0) {
      bytes = fs::file_size(s.path("t.db"));
      digest = store::trace_digest(t);
    }
    CHECK(fs::file_size(s.path("t.db")) == bytes);
    CHECK(store::trace_digest(t) == digest);
  }
}

TEST_CASE("the digest follows the program, not the numbering") {
  const Trace t = paper_loop(10);
  Trace renumbered = paper_loop(10);  // other blob ids: one more in front
  renumbered.blobs.insert(renumbered.blobs.begin(), Blob{{'z'}, 1});
  for (Class& c : renumbered.classes) c.label += c.label == NoIndex ? 0 : 1;
  for (Kernel& k : renumbered.kernels) k.source += 1;
  renumbered.streams[1].nodes[2].values[0] = Series(1);
  CHECK(store::trace_digest(t) == store::trace_digest(renumbered));

  Trace moved = paper_loop(10);
  moved.modules[0].base += 0x1000;  // another load address
  moved.modules[0].path = "/elsewhere/app";
  CHECK(store::trace_digest(t) == store::trace_digest(moved));

  Trace other = paper_loop(10);
  other.sites[4].offset += 4;
  CHECK(store::trace_digest(t) != store::trace_digest(other));
  Trace bigger = paper_loop(10);
  bigger.streams[1].nodes[1].values[1] = Series(8192);
  CHECK(store::trace_digest(t) != store::trace_digest(bigger));
}

TEST_CASE("a trace that could not be read is not written") {
  Scratch s;
  Trace t = paper_loop(3);
  t.shapes[0].thread = 9;
  CHECK(store::write_trace(s.path("t.db"), t).kind() == Kind::Invalid);
  CHECK(s.files() == 0);
}

TEST_CASE("what cannot be written leaves nothing behind") {
  Scratch s;
  CHECK(store::write_trace(s.path("no/such/trace.db"), paper_loop(3)).kind() == Kind::System);
  spill(s.path("trace.db"), "keep me");
  const auto limit = [](rlim_t bytes) {
    rlimit r{};
    ::getrlimit(RLIMIT_FSIZE, &r);
    r.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &r);
  };
  std::signal(SIGXFSZ, SIG_IGN);
  limit(20'000);  // as a full disk: writes stop in the middle
  const Status status = store::write_trace(s.path("trace.db"), paper_loop(3));
  limit(RLIM_INFINITY);
  CHECK(status.kind() == Kind::System);
  CHECK(slurp(s.path("trace.db")) == "keep me");
  CHECK(s.files() == 1);
}

TEST_CASE("files that are no traces are told apart") {
  Scratch s;
  const auto told = [&](const char* words) {
    const Result<Trace> r = store::read_trace(s.path("t.db"));
    INFO(text_of(r));
    return !r.ok() && text_of(r).find(words) != std::string::npos;
  };
  CHECK(store::read_trace(s.path("t.db")).status().kind() == Kind::System);
  spill(s.path("t.db"), "");
  CHECK(told("empty"));
  spill(s.path("t.db"), std::string(5000, 'x'));
  CHECK(told("not an SQLite file"));
  fs::remove(s.path("t.db"));
  sqlite3* db = nullptr;
  sqlite3_open(s.path("t.db").c_str(), &db);
  sqlite3_exec(db, "CREATE TABLE processes(id, pid)", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  CHECK(told("another program"));
  CHECK(store::read_trace(s.dir.string()).status().kind() == Kind::System);

  REQUIRE(store::write_trace(s.path("t.db"), paper_loop(3)).ok());
  const std::string good = slurp(s.path("t.db"));
  spill(s.path("t.db"), good.substr(0, good.size() / 2));
  CHECK(told("cut short"));
  spill(s.path("t.db"), good);
  sqlite3_open(s.path("t.db").c_str(), &db);
  sqlite3_exec(db, "PRAGMA user_version=99", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  CHECK(told("format 99"));
  CHECK(store::read_trace(s.path("t.db")).status().kind() == Kind::Unsupported);
}

TEST_CASE("changed contents are noticed") {
  Scratch s;
  const char* const changes[] = {
      "UPDATE stats SET calls = calls + 1 WHERE shape = 0",
      "UPDATE nodes SET shape = 77 WHERE id = 1",
      "UPDATE args SET class = NULL",
      "DELETE FROM nodes WHERE id = 3",
      "UPDATE nodes SET parent = 9 WHERE id = 8",
      "INSERT INTO sites VALUES(5000, 0, 0, NULL)",
      "UPDATE blobs SET size = 1 << 60",
      "DROP TABLE facts",
      "DELETE FROM checks",
      "ALTER TABLE nodes RENAME COLUMN count TO number",
      R"(DROP TABLE threads;
         CREATE VIEW threads AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
         SELECT i AS id, 0 AS process, i AS tid FROM n)",
  };
  for (const char* change : changes) {
    REQUIRE(store::write_trace(s.path("t.db"), paper_loop(3)).ok());
    sqlite3* db = nullptr;
    sqlite3_open(s.path("t.db").c_str(), &db);
    REQUIRE_MESSAGE(sqlite3_exec(db, change, nullptr, nullptr, nullptr) == SQLITE_OK, sqlite3_errmsg(db));
    sqlite3_close(db);
    const Result<Trace> r = store::read_trace(s.path("t.db"));
    CHECK_MESSAGE(r.status().kind() == Kind::Corrupt, change);
  }
}

// Whatever bytes change, reading ends in an error or in the same trace (bytes that carry nothing: pads, free space,
// names for people).
TEST_CASE("damage in any byte is told or harmless") {
  Scratch s;
  REQUIRE(store::write_trace(s.path("good.db"), rich_trace()).ok());
  const std::string good = slurp(s.path("good.db"));
  const std::string digest = store::trace_digest(rich_trace());
  const auto try_it = [&](const std::string& bytes) {
    spill(s.path("bad.db"), bytes);
    const Result<Trace> r = store::read_trace(s.path("bad.db"));
    if (r) {
      CHECK(store::trace_digest(*r) == digest);
    } else {
      CHECK((r.status().kind() == Kind::Corrupt || r.status().kind() == Kind::Unsupported));
      CHECK(r.status().text().find('\n') == std::string::npos);
    }
  };
  for (size_t length = 0; length < good.size(); length += length < 4096 ? 61 : 1973) try_it(good.substr(0, length));
  std::mt19937 random(1);
  for (int i = 0; i < 600; ++i) {
    std::string bad = good;
    const int flips = i % 3 == 0 ? 1 : 1 + static_cast<int>(random() % 30);
    for (int k = 0; k < flips; ++k) bad[random() % bad.size()] = static_cast<char>(random());
    try_it(bad);
  }
  for (size_t page = 0; page < good.size(); page += 4096) {
    std::string bad = good;
    std::fill_n(bad.begin() + static_cast<std::ptrdiff_t>(page), 4096, static_cast<char>(page / 4096 * 37));
    try_it(bad);
  }
}

// traces/samples holds a trace of every format version: they must open for ever, and say the same.
TEST_CASE("traces of earlier versions open") {
  const Result<Trace> r = store::read_trace(GT_SAMPLES "/format1.db");
  REQUIRE_MESSAGE(r.ok(), text_of(r));
  CHECK(event_count(r->streams[1].nodes) == 4 + 3000 + 4 + 50);
  CHECK(r->kernels[0].name == "vadd");
  uint64_t sum = 0;
  std::vector<int> counts;
  for (const Shape& shape : r->shapes) counts.push_back(shape.values());
  CHECK(expand(r->streams[1].nodes, counts, [&](ShapeId, std::span<const int64_t> values) {
    sum += static_cast<uint64_t>(values[values.size() > 3 ? 3 : 0]);
    return true;
  }));
  CHECK(sum == 9'199'314);
}

// A program that allocates through wrappers, recorded with --timeline.
TEST_CASE("the sample of format 2 opens, with what the format added") {
  const Result<Trace> r = store::read_trace(GT_SAMPLES "/format2.db");
  REQUIRE_MESSAGE(r.ok(), text_of(r));
  CHECK(r->fact("calls") == "32");
  const auto chained = [](const Site& s) { return s.outer != NoIndex; };
  CHECK(std::count_if(r->sites.begin(), r->sites.end(), chained) == 5);
  const auto to_device = [](const Shape& s) { return s.moves == Direction::HostToDevice; };
  CHECK(std::count_if(r->shapes.begin(), r->shapes.end(), to_device) == 7);
  REQUIRE(r->streams.size() == 2);
  CHECK(event_count(r->streams[0].nodes) + event_count(r->streams[1].nodes) == 32 + 274);
  for (const Stream& stream : r->streams) CHECK(!stream.timeline.empty());
}

TEST_CASE("the newest trace is found, and older ones are kept") {
  Scratch s;
  CHECK(store::newest_trace(s.dir.string()).status().kind() == Kind::Invalid);
  CHECK(store::newest_trace(s.path("nowhere")).status().kind() == Kind::System);
  CHECK(store::keep_older(s.path("trace.db")).ok());  // nothing to keep
  for (const char* text : {"first", "second"}) {
    spill(s.path("trace.db"), text);
    REQUIRE(store::keep_older(s.path("trace.db")).ok());
  }
  CHECK(slurp(s.path("trace.1.db")) == "first");
  CHECK(slurp(s.path("trace.2.db")) == "second");
  CHECK(!fs::exists(s.path("trace.db")));
  spill(s.path("other.db"), "");
  fs::last_write_time(s.path("trace.1.db"), fs::file_time_type::clock::now() + std::chrono::hours(1));
  CHECK(*store::newest_trace(s.dir.string()) == s.path("trace.1.db"));
}

TEST_CASE("contents go aside with their trace, and alone where it is gone") {
  Scratch s;
  const auto keep = [&](bool trace, bool contents) {
    if (trace) spill(s.path("trace.db"), "trace");
    if (contents) spill(s.path("trace.contents"), "contents");
    REQUIRE(store::keep_older(s.path("trace.db")).ok());
    CHECK(!fs::exists(s.path("trace.db")));
    CHECK(!fs::exists(s.path("trace.contents")));
  };
  const auto there = [&](int n) {
    const std::string stem = "trace." + std::to_string(n);
    return std::pair(fs::exists(s.path((stem + ".db").c_str())), fs::exists(s.path((stem + ".contents").c_str())));
  };
  keep(true, true);
  keep(true, false);
  keep(false, true);
  fs::remove(s.path("trace.1.db"));
  keep(true, true);  // 1 is taken by contents without a trace
  CHECK(there(1) == std::pair(false, true));
  CHECK(there(2) == std::pair(true, false));
  CHECK(there(3) == std::pair(false, true));
  CHECK(there(4) == std::pair(true, true));
}

TEST_CASE("views answer the common questions in a line") {
  Scratch s;
  REQUIRE(store::write_trace(s.path("t.db"), paper_loop(1000)).ok());
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(s.path("t.db").c_str(), &db) == SQLITE_OK);
  const auto first = [&](const char* sql) {
    sqlite3_stmt* stmt = nullptr;
    REQUIRE_MESSAGE(sqlite3_prepare_v2(db, sql, -1, &stmt, nullptr) == SQLITE_OK, sqlite3_errmsg(db));
    REQUIRE_MESSAGE(sqlite3_step(stmt) == SQLITE_ROW, sql);
    const std::string text = reinterpret_cast<const char*>(sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    return text;
  };
  CHECK(first("SELECT function FROM calls_by_time") == "clEnqueueReadBuffer");
  CHECK(
      first("SELECT direction || size_from || ' ' || bytes FROM transfers WHERE direction='h2d'") ==
      "h2d4096 4096000");
  CHECK(first("SELECT name || launches FROM kernel_time") == "vadd1000");
  CHECK(first("SELECT site || bytes FROM allocations") == "app+0x11004096");
  CHECK(first("SELECT allocated_by || '@' || allocated_at FROM transfer_sources") == "malloc@app+0x1100");
  sqlite3_close(db);
}
