#include "transport/executor/calls/allocations.h"

#include <utility>
#include <vector>

#include "transport/executor/calls/call_rules.h"

namespace gt::exec {
namespace {

using api::FnId;

// In the order of the functions' parameters behind the context, where a function has them.
struct Asked {
  cl_context context;
  cl_device_id device = nullptr;
  std::vector<cl_mem_properties_intel> properties;  // with its final 0; empty: none are given
  uint64_t bytes;
  cl_uint alignment;
};

struct Given {
  void* base = nullptr;
  cl_int code = CL_SUCCESS;
  UsmFunctions usm;
};

Given give_svm(const Cl& cl, const Asked& asked, cl_svm_mem_flags flags) {
  constexpr cl_svm_mem_flags Known =
      CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY | CL_MEM_SVM_FINE_GRAIN_BUFFER;
  if ((flags & ~Known) != 0) return {.code = CL_INVALID_VALUE, .usm = {}};
  if (!cl.has_svm()) return {.code = CL_INVALID_OPERATION, .usm = {}};
  return {.base = cl.clSVMAlloc(asked.context, flags, asked.bytes, asked.alignment), .usm = {}};
}

Given give_usm(const Session& session, FnId fn, const Asked& a) {
  Given given;
  given.usm = usm_functions(session, a.device ? a.device : device_of(session, a.context));
  const cl_mem_properties_intel* const list = a.properties.empty() ? nullptr : a.properties.data();
  const UsmFunctions& usm = given.usm;
  given.code = CL_INVALID_OPERATION;
  if (!usm.usable()) return given;
  if (fn == FnId::clHostMemAllocINTEL && usm.allocate_host)
    given.base = usm.allocate_host(a.context, list, a.bytes, a.alignment, &given.code);
  if (fn == FnId::clDeviceMemAllocINTEL && usm.allocate_device)
    given.base = usm.allocate_device(a.context, a.device, list, a.bytes, a.alignment, &given.code);
  if (fn == FnId::clSharedMemAllocINTEL && usm.allocate_shared)
    given.base = usm.allocate_shared(a.context, a.device, list, a.bytes, a.alignment, &given.code);
  return given;
}

Asked asked_of(FnId fn, std::span<const api::DecodedArg> args, Objects& objects) {
  const bool svm = fn == FnId::clSVMAlloc, host = fn == FnId::clHostMemAllocINTEL;
  const int properties = svm ? -1 : host ? 1 : 2, size = svm || host ? 2 : 3;
  Asked asked{objects.find(args[0].value, ObjectKind::Context)->as<cl_context>(),
              nullptr,
              {},
              value_of(args, size),
              static_cast<cl_uint>(value_of(args, size + 1))};
  if (!svm && !host) {
    const Object* const device = objects.find(value_of(args, 1), ObjectKind::Device);
    asked.device = device ? device->as<cl_device_id>() : nullptr;
  }
  for (const api::DecodedArg& arg : args)
    if (arg.param == properties && arg.tag != api::Tag::Null && arg.tag != api::Tag::Empty)
      asked.properties.push_back(arg.value);
  if (!asked.properties.empty()) asked.properties.push_back(0);
  return asked;
}

}  // namespace

bool allocates_block(FnId fn) {
  return fn == FnId::clSVMAlloc || fn == FnId::clHostMemAllocINTEL || fn == FnId::clDeviceMemAllocINTEL ||
         fn == FnId::clSharedMemAllocINTEL;
}

cl_int allocate(FnId fn, const wire::Call& call, std::span<const api::DecodedArg> args, Commands& commands,
                api::VectorWriter& outputs) {
  const Session& session = commands.session();
  if (call.result == 0) return CL_INVALID_VALUE;
  const Asked asked = asked_of(fn, args, commands.objects());
  if (!asked.properties.empty() && asked.properties.size() % 2 == 0) return CL_INVALID_PROPERTY;  // a key alone
  const uint64_t most = session.limits.memory_bytes, taken = session.count.memory_bytes;
  const uint64_t needed = asked.bytes + (session.usm ? asked.alignment : 0);  // emulated: by so much more memory
  if (needed < asked.bytes || (most != 0 && (taken > most || needed > most - taken)))
    return fn == FnId::clSVMAlloc ? CL_MEM_OBJECT_ALLOCATION_FAILURE : CL_OUT_OF_RESOURCES;
  const Given given =
      fn == FnId::clSVMAlloc ? give_svm(session.cl, asked, args[1].value) : give_usm(session, fn, asked);
  if (given.code != CL_SUCCESS) return given.code;
  if (!given.base) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  Object object;
  object.kind = ObjectKind::Svm;
  object.bytes = asked.bytes;
  object.counted = needed;
  object.svm = std::make_shared<SvmBlock>(session.cl, asked.context, given.base, asked.bytes, given.usm);
  outputs.word(object.svm->address());
  outputs.word(asked.bytes | api::NoContents);
  if (fn != FnId::clSVMAlloc) {  // errcode_ret
    outputs.word(1);
    outputs.word(0);
  }
  commands.objects().add(call.result, std::move(object));
  return CL_SUCCESS;
}

}  // namespace gt::exec
