// A Trace into a file: into a temporary one beside the target, which replaces the target when it is
// complete.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>

#include "traces/base/fd.h"
#include "traces/store/blob_pack.h"
#include "traces/store/check_trace.h"
#include "traces/store/function_facts.h"
#include "traces/store/node_rows.h"
#include "traces/store/trace_db.h"

namespace gt::store {
namespace {

using model::Trace;

class Writer {
 public:
  Writer(Database& db, const Trace& trace) : db_(db), trace_(trace) {}

  Status write() {
    GT_TRY(db_.run("BEGIN"));
    GT_TRY(db_.run(Schema));
    GT_TRY(db_.run(("PRAGMA application_id=" + std::to_string(ApplicationId) +
                    "; PRAGMA user_version=" + std::to_string(FormatVersion) +
                    "; INSERT INTO meta VALUES('format','" + std::to_string(FormatVersion) +
                    "'),('writer','gtrace " GT_VERSION "')")
                       .c_str()));
    GT_TRY(write_surroundings());
    GT_TRY(write_calls());
    GT_TRY(write_names());
    return db_.run("COMMIT");
  }

 private:
  // A table being filled.
  template <class T>
  class Rows {
   public:
    explicit Rows(Database& db) : db_(db) {}
    Status open() {
      std::string sql = std::string("INSERT INTO ") + Table<T>::Name + " VALUES(?";
      const std::string columns = columns_of<T>(FormatVersion);
      sql += ",?";
      for (const char c : columns) {
        if (c == ',') sql += ",?";
      }
      Result<Statement> s = db_.prepare(sql + ")");
      if (!s) return s.status();
      insert_ = std::move(*s);
      return {};
    }
    Status add(const T& value) {
      OutRow row(insert_.get(), hash_);
      row.number(count_);
      fields(row, const_cast<T&>(value));  // OutRow only reads
      ++count_;
      return row.step(db_);
    }
    Status close() {
      Result<Statement> s = db_.prepare("INSERT INTO checks VALUES(?,?,?,?)");
      if (!s) return s.status();
      RowHash ignored;
      OutRow row(s->get(), ignored);
      std::string name = Table<T>::Name;
      row.text(name);
      row.number(count_);
      const int64_t hash = hash_.value();
      row.number(hash);
      row.pad();
      return row.step(db_);
    }

   private:
    Database& db_;
    Statement insert_;
    RowHash hash_;
    uint64_t count_ = 0;
  };

  template <class T>
  Status table(const std::vector<T>& rows) {
    return table<T>([&](Rows<T>& out) -> Status {
      for (const T& v : rows) GT_TRY(out.add(v));
      return {};
    });
  }
  template <class T, class Fill>
  Status table(const Fill& fill) {
    Rows<T> out(db_);
    GT_TRY(out.open());
    GT_TRY(fill(out));
    return out.close();
  }

  Status write_surroundings() {
    const auto facts = [&](Rows<FactRow>& out) -> Status {
      for (const auto& [name, value] : trace_.facts) GT_TRY(out.add(FactRow{name, value}));
      return {};
    };
    const auto arguments = [&](Rows<ArgumentRow>& out) -> Status {
      for (uint32_t p = 0; p < trace_.processes.size(); ++p) {
        for (const std::string& a : trace_.processes[p].arguments)
          GT_TRY(out.add(ArgumentRow{p, a}));
      }
      return {};
    };
    GT_TRY(table<FactRow>(facts));
    GT_TRY(table(trace_.processes));
    GT_TRY(table<ArgumentRow>(arguments));
    GT_TRY(table(trace_.threads));
    GT_TRY(table(trace_.modules));
    GT_TRY(table(trace_.sites));
    return table(trace_.devices);
  }

  Status write_calls() {
    const auto blobs = [&](Rows<BlobRow>& out) -> Status {
      for (const model::Blob& b : trace_.blobs) GT_TRY(out.add(pack_blob(b)));
      return {};
    };
    GT_TRY(table<BlobRow>(blobs));
    GT_TRY(table(trace_.classes));
    GT_TRY(table(trace_.object_times));
    GT_TRY(write_shapes());
    GT_TRY(table(trace_.stats));
    GT_TRY(table(trace_.kernels));
    const auto streams = [&](Rows<StreamRow>& out) -> Status {
      for (const model::Stream& s : trace_.streams) GT_TRY(out.add(StreamRow{s.thread, s.memory, s.timeline}));
      return {};
    };
    const auto nodes = [&](Rows<NodeRow>& out) {
      return emit_nodes(trace_, [&](const NodeRow& row) { return out.add(row); });
    };
    GT_TRY(table<StreamRow>(streams));
    return table<NodeRow>(nodes);
  }

  Status write_shapes() {
    const auto shapes = [&](Rows<ShapeRow>& out) -> Status {
      for (const model::Shape& s : trace_.shapes) {
        GT_TRY(out.add(ShapeRow{{s.fn, s.site, s.thread, s.unfinished, {}, s.moves}}));
      }
      return {};
    };
    const auto args = [&](Rows<ArgRow>& out) -> Status {
      for (uint32_t s = 0; s < trace_.shapes.size(); ++s) {
        for (const model::Arg& a : trace_.shapes[s].args) GT_TRY(out.add(ArgRow{s, a}));
      }
      return {};
    };
    GT_TRY(table<ShapeRow>(shapes));
    return table<ArgRow>(args);
  }

  // Names for people and SQL; readers have their own.
  Status write_names() {
    std::map<model::FnId, bool> used;
    for (const auto& s : trace_.shapes) used[s.fn] = true;
    for (const auto& c : trace_.classes) used[c.fn] = true;
    Result<Statement> function = db_.prepare("INSERT INTO functions VALUES(?,?,nullif(?,''),?)");
    if (!function) return function.status();
    RowHash ignored;
    for (const auto& entry : used) {
      OutRow row(function->get(), ignored);
      row.number(entry.first);
      std::string name = function_name(entry.first),
                  transfer = direction_name(transfer_direction(entry.first));
      row.text(name);
      row.text(transfer);
      const bool launch = launches_kernel(entry.first);
      row.number(launch);
      GT_TRY(row.step(db_));
    }
    return write_kinds();
  }

  Status write_kinds() {
    Result<Statement> kind = db_.prepare("INSERT INTO kinds VALUES(?,?,?)");
    if (!kind) return kind.status();
    RowHash ignored;
    for (int k = 0; k <= static_cast<int>(api::LastObjectKind); ++k) {
      OutRow row(kind->get(), ignored);
      row.number(k);
      std::string name = model::object_kind_name(static_cast<model::ObjectKind>(k));
      std::string letter = model::object_kind_letter(static_cast<model::ObjectKind>(k));
      row.text(name);
      row.text(letter);
      GT_TRY(row.step(db_));
    }
    return {};
  }

  Database& db_;
  const Trace& trace_;
};

Status write_file(const std::string& path, const Trace& trace) {
  Result<Database> db = Database::create(path);
  if (!db) return db.status();
  GT_TRY(Writer(*db, trace).write());
  return db->close();
}

// On disk before the rename makes it the trace.
Status sync_file(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.open() || ::fsync(fd.get()) != 0) return system_error("cannot write", errno);
  return {};
}

}  // namespace

Status write_trace(const std::string& path, const Trace& trace) {
  if (const Status s = check_trace(trace); !s.ok()) return Status(Kind::Invalid, s.text()).at(path);
  const std::string temporary = path + ".tmp-" + std::to_string(::getpid());
  ::unlink(temporary.c_str());
  Status status = write_file(temporary, trace);
  if (status.ok()) status = sync_file(temporary);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = system_error("cannot write", errno);
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  return status.at(path);
}

}  // namespace gt::store
