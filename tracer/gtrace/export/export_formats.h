// The formats that gtrace export writes. All writers have the same functions:
//
//   begin()                       before everything else
//   call(const ExportedCall&)     a call, and its command on the device if it was timed
//   end()                         after everything; the output's tail is what an interrupted one lacks
//
// Thread safety: none.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "tracer/gtrace/base/call_fields.h"
#include "tracer/gtrace/base/call_text.h"
#include "tracer/gtrace/base/output.h"
#include "tracer/gtrace/export/proto.h"
#include "tracer/gtrace/base/walk.h"

namespace gt::tracer {

struct ExportedCall {
  const model::Stream* stream = nullptr;
  const WalkedEvent* event = nullptr;
  uint64_t id = 0;  // unique in the export, from 1: ties a call to its command
};

// The tracks on which commands are drawn: one a queue, and more where its commands overlap (out-of-order queues), as
// slices on one track must not.
class QueueTracks {
 public:
  struct Track {
    std::string name;  // "q0", "q0 (2)"
    uint32_t id = 0;
    bool fresh = false;  // used for the first time
  };
  Track place(uint32_t process, const std::string& queue, uint64_t start_ns, uint64_t end_ns);

 private:
  struct Used {
    Track track;
    uint64_t end_ns = 0;  // of its last command
  };
  std::map<std::pair<uint32_t, std::string>, std::vector<Used>> queues_;
  uint32_t next_ = 0;
};

// https://perfetto.dev/docs/reference/trace-packet-proto
class PerfettoWriter {
 public:
  PerfettoWriter(const model::Trace& trace, const model::ObjectNames& names, Output& out);
  void begin();
  void call(const ExportedCall& c);
  void end() {}

 private:
  enum class Track : uint64_t { Process = 1, Thread, Memory, Queue };
  static uint64_t uuid(Track kind, uint64_t index) { return (static_cast<uint64_t>(kind) << 48) | (index + 1); }
  // One end of a slice, or an instant.
  struct Edge {
    uint64_t type = 0, track = 0, time_ns = 0;
  };
  // Texts that come again and again are written once, and then called by number.
  struct Interned {
    std::unordered_map<std::string, uint64_t> ids;
    uint64_t id(const std::string& text, uint32_t field, ProtoWriter& fresh);
  };

  template <class Fill>
  void track(uint64_t id, uint64_t parent, const std::string& name, const Fill& fill);
  template <class Fill>
  void edge(const Edge& edge, const Fill& fill);
  void annotate(ProtoWriter& event, const std::string& name, std::string_view text);
  void annotate(ProtoWriter& event, const std::string& name, int64_t number);
  void annotate_call(ProtoWriter& event, const ExportedCall& c);
  void memory_call(const ExportedCall& c);
  void command(const ExportedCall& c);
  void end_packet(const ProtoWriter& packet);

  const model::Trace& trace_;
  CallFields fields_;
  Output& out_;
  QueueTracks queues_;
  Interned names_, annotations_;
  ProtoWriter fresh_;  // texts numbered for the packet at hand
  std::vector<bool> has_memory_track_;
};

// The Trace Event Format, as one array.
class ChromeWriter {
 public:
  ChromeWriter(const model::Trace& trace, const model::ObjectNames& names, Output& out);
  void begin();
  void call(const ExportedCall& c);
  void end() {}

 private:
  void element(const std::string& text);
  void name_thing(const char* what, int64_t pid, uint64_t tid, const std::string& name);

  const model::Trace& trace_;
  CallText text_;
  CallFields fields_;
  Output& out_;
  QueueTracks queues_;
  bool first_ = true;
};

// A row a call.
class CsvWriter {
 public:
  CsvWriter(const model::Trace& trace, const model::ObjectNames& names, Output& out);
  void begin();
  void call(const ExportedCall& c);
  void end() {}

 private:
  const model::Trace& trace_;
  CallText text_;
  CallFields fields_;
  Output& out_;
};

// An array with an object a call.
class JsonWriter {
 public:
  JsonWriter(const model::Trace& trace, const model::ObjectNames& names, Output& out);
  void begin();
  void call(const ExportedCall& c);
  void end() {}

 private:
  CallText text_;
  Output& out_;
  bool first_ = true;
};

// Helpers of the program (compilers, shells) that made no call of their own are not drawn.
std::vector<bool> processes_with_calls(const model::Trace& trace);
std::string process_name(const model::Process& process);  // "vadd"
std::string command_line(const model::Process& process);
std::string csv_cell(std::string_view text);  // in quotes where it must be

}  // namespace gt::tracer
