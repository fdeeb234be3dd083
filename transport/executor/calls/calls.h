// Call messages: the functions that travel as their encoded arguments.
// Thread safety: none; the control channel uses it.
#pragma once

#include <map>
#include <utility>

#include "traces/api/decode.h"
#include "traces/api/invoke.h"
#include "transport/executor/base/commands.h"
#include "transport/executor/calls/call_outputs.h"
#include "transport/executor/calls/extension_calls.h"

namespace gt::exec {

class Calls : api::ObjectMap {
 public:
  explicit Calls(Commands& commands)
      : commands_(commands), extensions_(commands), context_{api::Arena(ArenaBytes), this, nullptr, 0} {}

  void run(const wire::Call& call);
  void run(const wire::Update& update) { extensions_.run(update); }

 private:
  static constexpr size_t ArenaBytes = size_t{512} << 20;

  // What names in calls mean. Functions and user data of the client mean nothing here.
  uint64_t object(ObjectKind kind, uint64_t name) override;
  void* memory(uint64_t address, uint64_t length) override;
  uint64_t code(uint64_t) override { return 0; }
  uint64_t raw(uint64_t) override { return 0; }

  cl_int check(const wire::Call& call);
  bool sets_value();
  cl_int check_names(const wire::Call& call);
  cl_int make(const wire::Call& call);
  api::Invoked invoke(api::FnId fn, ByteView inputs, AnyFunction function);
  AnyFunction function_of(api::FnId fn);
  cl_int release(ObjectId id, ObjectKind kind);
  uint64_t take_handle(const wire::Call& call, const OutHandle& out);
  void note_effects(const wire::Call& call);
  void note_barrier(Queue& queue);
  void keep_arguments(Queue& queue);
  cl_int binaries(const wire::Call& call);
  cl_int map_nothing();
  std::shared_ptr<Queue> queue_of_call(api::FnId fn);

  Commands& commands_;
  ExtensionCalls extensions_;
  api::InvokeContext context_;
  std::vector<api::DecodedArg> args_;
  api::VectorWriter outputs_;

  // While a call's outputs are being named.
  std::shared_ptr<Queue> queue_;
  int64_t enqueued_ns_ = 0;
  ObjectId next_ = 0;
  cl_int naming_ = CL_SUCCESS;
};

}  // namespace gt::exec
