// The functions of the program that OpenCL may call: who registered them, for what, under which number.
//
// Callbacks take their numbers in order of registration and never again: when one has been called, and its number would
// be free, is the driver's affair.
// Thread safety: none.
#pragma once

#include <unordered_map>
#include <vector>

#include "tracer/collect/call_naming.h"
#include "tracer/collect/spool_reader.h"
#include "tracer/collect/trace_tables.h"
#include "tracer/collect/traced_thread.h"

namespace gt::tracer {

struct RegisteredCallback {
  ObjectRef object;
  TracedThread* by;         // registered it
  CallbackSubject subject;  // what it was registered for
  bool build = false;       // it tells of the end of a build, also of one that failed
  bool called = false;
};

class RegisteredCallbacks {
 public:
  explicit RegisteredCallbacks(TraceTables& tables) : tables_(tables) {}  // which must outlive it

  // The pending call registers one. False: the record makes no sense.
  bool take(TracedThread& thread, const RecordView& record);
  // The pending call ends: is what it registered an object of the trace?
  void define(TracedThread& thread);

  // One that may still be called; nullptr: none has this number.
  RegisteredCallback* find(const TracedProcess& process, uint64_t number);
  void forget(const TracedProcess& process, uint64_t number) { of(process).erase(number); }

 private:
  using Table = std::unordered_map<uint64_t, RegisteredCallback>;  // by number
  Table& of(const TracedProcess& process) {
    if (process.index >= by_process_.size()) by_process_.resize(process.index + 1);
    return by_process_[process.index];
  }

  TraceTables& tables_;
  std::vector<Table> by_process_;
};

}  // namespace gt::tracer
