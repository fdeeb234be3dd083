// Programs and their kernels: the source that each kernel was compiled from, as one text, and its options.
//
// Headers given to clCompileProgram are put where they are included, linked programs one after the other: so the
// analyzer can parse the source without knowing of either.
// Thread safety: none. Cost: texts are copied when a program is made or compiled, not when it is used.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tracer/collect/spool_reader.h"
#include "tracer/collect/trace_tables.h"
#include "tracer/collect/traced_thread.h"
#include "traces/model/folded/kernel_origin.h"

namespace gt::tracer {

class ProgramTexts {
 public:
  explicit ProgramTexts(TraceTables& tables) : tables_(tables), trace_(tables.trace) {}  // which must outlive it

  // The thread's pending call makes a program, of its own text or of the programs that it links. Its number.
  uint32_t make_program(const PendingCall& call);
  // A build's options and headers; kernels made from now on were built with them.
  void compile_program(const PendingCall& call);

  // What a program is compiled from, with the headers that the program itself has given; "": not known.
  std::string_view source_of(uint32_t program) const;
  // The name of a kernel that the pending call makes.
  model::BlobId kernel_label(const TracedThread& thread, uint64_t kernel) const;
  void note_kernel(const PendingCall& call, uint64_t handle, model::ClassId cls, uint32_t program);

  // What the driver says of kernels that the pending call made.
  void take_kernel_name(TracedThread& thread, const RecordView& record);
  void take_kernel_args(TracedThread& thread, const RecordView& record);

  const model::KernelOrigins& origins() const { return origins_; }  // of the kernels of each class

 private:
  struct Program {
    model::BlobId source = model::NoIndex;  // what its kernels are compiled from, headers included
    model::BlobId options = model::NoIndex;
    model::BlobId text = model::NoIndex;  // what it was made from
    std::vector<model::BlobId> modules;   // or these, in an intermediate language; several where it was linked
  };

  TraceTables& tables_;
  model::Trace& trace_;
  std::vector<Program> programs_;
  model::KernelOrigins origins_;
};

}  // namespace gt::tracer
