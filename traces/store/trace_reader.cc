// A file, whoever wrote it, into a Trace: or into one line that says what is wrong with it.
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "traces/store/blob_pack.h"
#include "traces/store/check_trace.h"
#include "traces/store/function_facts.h"
#include "traces/store/node_rows.h"
#include "traces/store/trace_db.h"

namespace gt::store {
namespace {

using model::Trace;

// What a file may cost, by its size: steps of SQLite's machine, bytes of blobs, values of columns.
// Generous for what we write ourselves (columns compress well), small against a machine.
struct Budget {
  explicit Budget(uint64_t file_bytes)
      : steps(50'000'000 + 200 * file_bytes),
        blob_bytes((uint64_t{64} << 20) + 1024 * file_bytes),
        values((uint64_t{16} << 20) + 1024 * file_bytes) {}
  uint64_t steps, blob_bytes, values;
};

#ifdef GT_NO_CHECKSUMS
constexpr bool CheckHashes = false;  // fuzzing
#else
constexpr bool CheckHashes = true;
#endif

Status damaged(const std::string& what) { return {Kind::Corrupt, "the trace is damaged (" + what + ")"}; }

class Reader {
 public:
  Reader(Database& db, const Budget& budget) : db_(db), budget_(budget) {}

  Result<Trace> read() {
    GT_TRY(check_version());
    GT_TRY(read_surroundings());
    GT_TRY(read_calls());
    GT_TRY(check_trace(trace_));
    return std::move(trace_);
  }

 private:
  Status check_version() {
    const Result<int64_t> version = db_.number("PRAGMA user_version");
    if (!version) return version.status();
    if (*version > FormatVersion) {
      return {Kind::Unsupported, "this trace has format " + std::to_string(*version) + "; this gtrace reads up to " +
                                     std::to_string(FormatVersion) + ": use a newer gtrace"};
    }
    if (*version < 1) return damaged("format " + std::to_string(*version));
    format_ = static_cast<int>(*version);
    return {};
  }

  // Every row of T in the order of its number, each given to `add(T&)`, which returns a Status.
  template <class T, class Add>
  Status table(const Add& add) {
    const std::string name = Table<T>::Name;
    uint64_t expected_rows = 0;
    int64_t expected_hash = 0;
    GT_TRY(expectations(name, expected_rows, expected_hash));
    const char* key = std::is_same_v<T, model::ShapeStats> ? "shape" : "id";
    Result<Statement> s = db_.prepare("SELECT " + std::string(key) + "," + unpadded(columns_of<T>(format_)) + " FROM " +
                                      name + " ORDER BY " + key);
    if (!s) return s.status();
    RowHash hash;
    uint64_t count = 0;
    int rc;
    while ((rc = sqlite3_step(s->get())) == SQLITE_ROW) {
      InRow row(s->get(), hash, format_);
      uint64_t id = 0;
      T value;
      row.number(id);
      fields(row, value);
      if (!row.ok()) return damaged(name + ": " + row.why());
      if (id != count++) return damaged(name + ": rows are missing");
      if (count > expected_rows) return damaged(name + ": too many rows");
      GT_TRY(add(value));
    }
    if (rc != SQLITE_DONE) return db_.error();
    if (count != expected_rows) return damaged(name + ": rows are missing");
    if (CheckHashes && hash.value() != expected_hash) {
      return damaged(name + ": its contents do not match their checksum");
    }
    return {};
  }
  template <class T>
  Status table(std::vector<T>& rows) {
    return table<T>([&](T& v) -> Status {
      rows.push_back(std::move(v));
      return {};
    });
  }

  static std::string unpadded(std::string columns) {
    constexpr std::string_view Pad = ",pad";
    if (columns.ends_with(Pad)) columns.resize(columns.size() - Pad.size());
    return columns;
  }

  Status expectations(const std::string& name, uint64_t& rows, int64_t& hash) {
    Result<Statement> s = db_.prepare("SELECT rows,hash FROM checks WHERE name='" + name + "'");
    if (!s) return s.status();
    const int rc = sqlite3_step(s->get());
    if (rc == SQLITE_DONE) return damaged(name + ": no checksum");
    if (rc != SQLITE_ROW) return db_.error();
    rows = static_cast<uint64_t>(sqlite3_column_int64(s->get(), 0));
    hash = sqlite3_column_int64(s->get(), 1);
    return {};
  }

  Status read_surroundings() {
    const auto fact = [&](FactRow& v) -> Status {
      trace_.facts.emplace_back(std::move(v.name), std::move(v.value));
      return {};
    };
    const auto argument = [&](ArgumentRow& v) -> Status {
      if (v.process >= trace_.processes.size()) return damaged("arguments: no such process");
      trace_.processes[v.process].arguments.push_back(std::move(v.text));
      return {};
    };
    GT_TRY(table<FactRow>(fact));
    GT_TRY(table(trace_.processes));
    GT_TRY(table<ArgumentRow>(argument));
    GT_TRY(table(trace_.threads));
    GT_TRY(table(trace_.modules));
    GT_TRY(table(trace_.sites));
    return table(trace_.devices);
  }

  Status read_calls() {
    const auto blob = [&](BlobRow& v) { return unpack_blob(v, budget_.blob_bytes, trace_.blobs.emplace_back()); };
    GT_TRY(table<BlobRow>(blob));
    GT_TRY(table(trace_.classes));
    if (format_ >= 3) GT_TRY(table(trace_.object_times));
    GT_TRY(read_shapes());
    GT_TRY(table(trace_.stats));
    GT_TRY(table(trace_.kernels));
    const auto stream = [&](StreamRow& v) -> Status {
      trace_.streams.push_back({v.thread, v.memory, {}, std::move(v.timeline)});
      return {};
    };
    GT_TRY(table<StreamRow>(stream));
    NodeTree tree(trace_, budget_.values);
    return table<NodeRow>([&](NodeRow& v) { return tree.add(v); });
  }

  Status read_shapes() {
    const auto shape = [&](ShapeRow& v) -> Status {
      if (format_ < 2) v.shape.moves = transfer_direction(v.shape.fn);
      trace_.shapes.push_back(std::move(v.shape));
      return {};
    };
    const auto arg = [&](ArgRow& v) -> Status {
      if (v.shape >= trace_.shapes.size()) return damaged("args: no such shape");
      trace_.shapes[v.shape].args.push_back(v.arg);
      return {};
    };
    GT_TRY(table<ShapeRow>(shape));
    return table<ArgRow>(arg);
  }

  Database& db_;
  Budget budget_;
  int format_ = FormatVersion;
  Trace trace_;
};

// The first 100 bytes tell our file from others without asking SQLite: its magic, and the
// application's mark.
Status check_header(const std::string& path, uint64_t& file_bytes) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0) return system_error("cannot open", errno);
  if (S_ISDIR(st.st_mode)) return system_error("cannot open", EISDIR);
  if (!S_ISREG(st.st_mode)) return {Kind::Corrupt, "not a gtrace trace (not a regular file)"};
  std::ifstream file(path, std::ios::binary);
  if (!file) return system_error("cannot open", errno);
  file_bytes = static_cast<uint64_t>(st.st_size);
  if (file_bytes == 0) return {Kind::Corrupt, "not a gtrace trace (the file is empty)"};
  unsigned char head[100] = {};
  file.read(reinterpret_cast<char*>(head), sizeof head);
  if (std::memcmp(head, "SQLite format 3", 16) != 0) {
    return {Kind::Corrupt, "not a gtrace trace (not an SQLite file)"};
  }
  if (file_bytes < sizeof head) return {Kind::Corrupt, "the trace is cut short"};
  const auto big_endian = [&](int at) {
    return uint32_t{head[at]} << 24 | uint32_t{head[at + 1]} << 16 | uint32_t{head[at + 2]} << 8 | head[at + 3];
  };
  if (big_endian(68) != static_cast<uint32_t>(ApplicationId)) {
    return {Kind::Corrupt, "not a gtrace trace (an SQLite file of another program)"};
  }
  const uint32_t page_bytes = uint32_t{head[16]} << 8 | head[17];
  if (uint64_t{big_endian(28)} * (page_bytes == 1 ? 65536 : page_bytes) > file_bytes) {
    return {Kind::Corrupt, "the trace is cut short"};
  }
  return {};
}

Result<Trace> read_file(const std::string& path) {
  uint64_t file_bytes = 0;
  GT_TRY(check_header(path, file_bytes));
  const Budget budget(file_bytes);
  Result<Database> db = Database::open(path, budget.steps);
  if (!db) return db.status();
  return Reader(*db, budget).read();
}

}  // namespace

Result<Trace> read_trace(const std::string& path) {
  try {
    Result<Trace> trace = read_file(path);
    return trace ? std::move(trace) : Result<Trace>(trace.status().at(path));
  } catch (const std::bad_alloc&) {
    return Status(Kind::System, path + ": not enough memory", ENOMEM);
  }
}

}  // namespace gt::store
