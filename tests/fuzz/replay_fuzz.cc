// libFuzzer: any bytes as the calls of a trace, which are replayed on the fake driver: the plan of a shape, the
// encoder, what transfers send and what is compared.
//
// Input: records of RecordBytes, a call each, after a beginning that makes an object of most kinds. A record is a
// function and a byte for each of its arguments, where 0 is what a program would have there.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <set>

#include "tests/fake_cl/driver.h"
#include "tests/fuzz/seeds.h"
#include "tracer/gtrace/replay/replayer.h"

using namespace gt;
using namespace gt::tracer;
using api::FnId;
using api::Wire;
using model::Arg;
using model::ArgForm;
using model::Effect;
using model::ObjectKind;

namespace {

constexpr size_t RecordBytes = 24, MostCalls = 40;
constexpr auto Kinds = static_cast<size_t>(api::LastObjectKind) + 1;

// --- The driver: the fake's functions, but for those that can only be called by who knows what is alive ---

// Kernels that the fake runs take their arguments for objects; nothing tells it that they are not.
cl_kernel only_nothing(cl_program program, const char* name, cl_int* code) {
  if (name && !std::strcmp(name, "nothing")) return clCreateKernel(program, name, code);
  if (code) *code = CL_INVALID_KERNEL_NAME;
  return nullptr;
}

// Shared memory: a driver knows what it gave.
class Shared {
 public:
  void* take(size_t bytes) {
    if (bytes == 0 || bytes > 4096) return nullptr;
    blocks_.push_back(std::make_unique<Bytes>(bytes));
    return blocks_.back()->data();
  }
  bool holds(const void* at, size_t bytes) const {
    return std::any_of(blocks_.begin(), blocks_.end(), [&](const auto& b) {
      const auto begin = reinterpret_cast<uintptr_t>(b->data()), from = reinterpret_cast<uintptr_t>(at);
      return from >= begin && from - begin <= b->size() && bytes <= b->size() - (from - begin);
    });
  }
  void clear() { blocks_.clear(); }

 private:
  std::vector<std::unique_ptr<Bytes>> blocks_;
} g_shared;

void* svm_alloc(cl_context, cl_svm_mem_flags, size_t bytes, cl_uint) { return g_shared.take(bytes); }
cl_int svm_fill(cl_command_queue, void* at, const void* pattern, size_t n, size_t bytes, cl_uint, const cl_event*,
                cl_event*) {
  if (!g_shared.holds(at, bytes) || n == 0 || n > bytes) return CL_INVALID_VALUE;
  std::memcpy(at, pattern, n);
  return CL_SUCCESS;
}
cl_int svm_map(cl_command_queue, cl_bool, cl_map_flags, void* at, size_t bytes, cl_uint, const cl_event*, cl_event*) {
  return g_shared.holds(at, bytes) ? CL_SUCCESS : CL_INVALID_VALUE;
}
cl_int svm_unmap(cl_command_queue, void* at, cl_uint, const cl_event*, cl_event*) {
  return g_shared.holds(at, 0) ? CL_SUCCESS : CL_INVALID_VALUE;
}
// One end is the program's memory, or a recorded address: only its length could say how much may be touched.
cl_int svm_copy(cl_command_queue, cl_bool, void* to, const void* from, size_t bytes, cl_uint, const cl_event*,
                cl_event*) {
  if (!g_shared.holds(to, bytes) && !g_shared.holds(from, bytes)) return CL_INVALID_VALUE;
  if (g_shared.holds(to, bytes) && g_shared.holds(from, bytes)) std::memmove(to, from, bytes);
  return CL_SUCCESS;
}

// And those that call back: one function stands for all callbacks, whatever their type, which sanitizers do not like.
bool is_left_out(uint16_t fn) {
  const api::FnInfo& info = api::fn_info(fn);
  const api::Attributes& a = info.attributes;
  for (uint16_t p = 0; p < info.param_count; ++p)
    if (info.params[p].in == Wire::Code && a.options < 0 && info.result.kind != ObjectKind::Context) return true;
  const std::string_view name = api::function_name(fn);
  return a.retains != ObjectKind::Unknown || a.releases != ObjectKind::Unknown || name.starts_with("clRelease") ||
         name.starts_with("clSVMFree") || name == "clEnqueueSVMFree" || name == "clCreateUserEvent" ||
         name == "clCreateKernelsInProgram" || name.find("GL") != name.npos;
}

const OpenClLibrary& library() {
  static const OpenClLibrary all([](FnId fn) {
    switch (fn) {
      case FnId::clCreateKernel: return reinterpret_cast<AnyFunction>(&only_nothing);
      case FnId::clSVMAlloc: return reinterpret_cast<AnyFunction>(&svm_alloc);
      case FnId::clEnqueueSVMMemFill: return reinterpret_cast<AnyFunction>(&svm_fill);
      case FnId::clEnqueueSVMMemcpy: return reinterpret_cast<AnyFunction>(&svm_copy);
      case FnId::clEnqueueSVMMap: return reinterpret_cast<AnyFunction>(&svm_map);
      case FnId::clEnqueueSVMUnmap: return reinterpret_cast<AnyFunction>(&svm_unmap);
      default: return is_left_out(static_cast<uint16_t>(fn)) ? nullptr : fake::exported(fn);
    }
  });
  return all;
}

// --- Contents: any number stands for some bytes, some for none, one for many ---

class AnyContents : public ContentSource {
 public:
  bool has(int64_t number) const override { return number >= 0 && number % 8 != 7; }
  uint64_t size(int64_t number) const override { return has(number) ? static_cast<uint64_t>(number * 16 % 5000) : 0; }
  Status read(int64_t number, Bytes& out) const override {
    if (number % 8 == 6) return {Kind::Corrupt, "a chunk is damaged"};
    out.assign(size(number), static_cast<uint8_t>(number));
    return {};
  }
};

// --- The trace ---

constexpr std::string_view Texts[] = {"nothing", "kernel void nothing(int a) {}", "", "-D A", "12345678"};

model::Trace empty_trace() {
  model::Trace t;
  t.processes.emplace_back();
  t.threads.emplace_back();
  for (const std::string_view text : Texts) {
    const ByteView bytes = as_bytes(text);
    t.blobs.push_back({{bytes.begin(), bytes.end()}, bytes.size()});
  }
  t.blobs.push_back({{1, 2, 3}, 100});  // one that was cut
  for (size_t k = 0; k < Kinds; ++k) {
    model::Class made;
    made.kind = static_cast<ObjectKind>(k);
    made.fn = 1;
    made.label = 0;
    t.classes.push_back(made);
  }
  return t;
}

// A record as a shape and its values.
class Call {
 public:
  explicit Call(ByteView record) : left_(record) {
    shape.fn = static_cast<uint16_t>(1 + (next() | next() << 8) % (api::FnCount - 1));
    const api::FnInfo& fn = api::fn_info(shape.fn);
    for (uint16_t p = 0; p < fn.param_count; ++p) input(fn, p);
    for (uint16_t p = 0; p < fn.param_count; ++p) output(p, fn.params[p]);
    output(model::ParamReturn, fn.result);
    if (fn.attributes.launch || fn.attributes.waits) {
      memory(model::ParamSharedContent, next() % 2 ? ObjectKind::Svm : ObjectKind::Segment, next());
      number(model::ParamSharedContent, next());
    }
    number(model::ParamContent, static_cast<int8_t>(next()));
  }

  model::Shape shape;
  std::vector<int64_t> values;

 private:
  uint8_t next() {
    if (left_.empty()) return 0;
    const uint8_t b = left_[0];
    left_ = left_.subspan(1);
    return b;
  }
  void add(uint16_t param, ArgForm form, ObjectKind kind, Effect effect, std::initializer_list<int64_t> row) {
    const bool named = form == ArgForm::Object || form == ArgForm::Memory;
    shape.args.push_back({param, form, effect, named ? static_cast<model::ClassId>(kind) : model::NoIndex});
    values.insert(values.end(), row);
  }
  void number(uint16_t param, int64_t n) { add(param, ArgForm::Int, {}, Effect::None, {n}); }
  void memory(uint16_t param, ObjectKind kind, uint8_t b) {
    constexpr int64_t Odd[] = {0, 8, 64, 4096, -1, -4096, INT64_MAX, INT64_MIN};
    add(param, ArgForm::Memory, kind, Effect::Use, {b / 64, Odd[b % 8]});
  }

  // Byte 0: what a program would have there.
  void input(const api::FnInfo& fn, uint16_t p) {
    const api::ParamInfo& info = fn.params[p];
    const std::string_view name = info.name;
    if (info.in == Wire::None) return;
    const uint8_t b = next();
    if (b >= 0xe0) return odd(p, b);
    switch (info.in) {
      case Wire::Int: {
        const bool counts = p + 1 < fn.param_count && is_list(fn.params[p + 1].in);
        const int64_t usual = counts ? elements(fn.params[p + 1], 0) : is_size(name) ? 64 : name == "blocking" ? 1 : 0;
        return number(p, b < 0x80 ? usual + b : b == 0xdf ? INT64_MAX : static_cast<int64_t>(b) << (b & 15));
      }
      case Wire::Handle: return add(p, ArgForm::Object, info.kind, Effect::Use, {b % 2});
      case Wire::Code: return add(p, ArgForm::Code, {}, Effect::None, {0});
      case Wire::Raw: return add(p, ArgForm::Raw, {}, Effect::None, {b});
      case Wire::Pointer: return memory(p, b % 2 ? ObjectKind::Segment : info.kind, b);
      case Wire::HostData: return memory(p, ObjectKind::Segment, b);
      case Wire::Bytes: return add(p, ArgForm::Blob, {}, Effect::None, {text(name, b)});
      case Wire::Present: return add(p, b % 2 ? ArgForm::Null : ArgForm::Empty, {}, Effect::None, {});
      default: return list(p, info, b);
    }
  }
  void list(uint16_t p, const api::ParamInfo& info, uint8_t b) {
    if (info.in == Wire::Handles && info.kind == ObjectKind::Event && b == 0)
      return add(p, ArgForm::Null, {}, Effect::None, {});
    for (int64_t i = 0, n = elements(info, b); i < n; ++i) {
      if (info.in == Wire::Handles) add(p, ArgForm::Object, info.kind, Effect::Use, {b % 2});
      else if (info.in == Wire::Pointers) memory(p, info.kind, b);
      else if (info.in == Wire::Strings) add(p, ArgForm::Blob, {}, Effect::None, {text(info.name, b)});
      else number(p, b + 1);
    }
  }
  // Something else than belongs there.
  void odd(uint16_t p, uint8_t b) {
    const auto kind = static_cast<ObjectKind>(next() % Kinds);
    switch (b % 8) {
      case 0: return add(p, ArgForm::Null, {}, Effect::None, {});
      case 1: return number(p, static_cast<int64_t>(next()) << 56);
      case 2: return add(p, ArgForm::Object, kind, Effect::Use, {b % 2});
      case 3: return memory(p, kind, next());
      case 4: return add(p, ArgForm::Blob, {}, Effect::None, {static_cast<int8_t>(next())});
      case 5: return add(p, ArgForm::Empty, {}, Effect::None, {});
      case 6: return;  // it is missing
      default: return add(p, ArgForm::Code, {}, Effect::None, {-1});
    }
  }
  void output(uint16_t p, const api::ParamInfo& info) {
    if (info.out == Wire::None) return;
    if (info.error_code) return number(p, next() % 2 ? -5 : 0);
    if (info.kind == ObjectKind::Unknown) return;
    const uint8_t b = next();
    const bool is_handle = info.kind <= ObjectKind::OtherHandle || b % 4 != 3;
    if (is_handle) return add(p, ArgForm::Object, info.kind, Effect::Def, {b % 2});
    memory(p, ObjectKind::Segment, b);
  }

  static bool is_list(Wire w) {
    return w == Wire::Ints || w == Wire::Handles || w == Wire::Pointers || w == Wire::Strings;
  }
  static bool is_size(std::string_view name) {
    return name == "size" || name == "cb" || name.find("pattern") != name.npos || name.find("_size") != name.npos;
  }
  static int64_t elements(const api::ParamInfo& info, uint8_t b) {
    const std::string_view name = info.name;
    if (info.kind == ObjectKind::Event && b == 0) return 0;
    if (name.find("origin") != name.npos || name.find("region") != name.npos) return 3;
    if (info.in == Wire::Properties || name.find("format") != name.npos) return 2;
    return name.find("desc") != name.npos ? 10 : 1 + b / 64;
  }
  static int64_t text(std::string_view name, uint8_t b) {
    if (b != 0) return b % 8;
    return name == "strings" ? 1 : name == "arg_value" || name == "pattern" ? 4 : name == "options" ? 3 : 0;
  }

  ByteView left_;
};

Bytes record(FnId fn, std::initializer_list<uint8_t> arguments = {}) {
  const auto number = static_cast<uint16_t>(static_cast<uint16_t>(fn) - 1);
  Bytes bytes{static_cast<uint8_t>(number), static_cast<uint8_t>(number >> 8)};
  bytes.insert(bytes.end(), arguments);
  bytes.resize(RecordBytes);
  return bytes;
}

Bytes beginning() {
  Bytes all;
  for (const FnId fn : {FnId::clCreateContext, FnId::clCreateCommandQueue, FnId::clCreateBuffer,
                        FnId::clCreateProgramWithSource, FnId::clBuildProgram, FnId::clCreateKernel,
                        FnId::clSVMAlloc, FnId::clEnqueueMarker}) {
    const Bytes one = record(fn);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

// --- Objects of the fake that a replay left ---

class Made {
 public:
  void look(const ReplayWorld& world) {
    for (size_t k = 0; k < of_.size(); ++k) {
      for (const uint64_t o : world.objects.of_kind(static_cast<ObjectKind>(k)))
        if (o != 0 && o != ReplayObjects::Lost) of_[k].insert(o);
    }
  }
  void release() {
    release_all<cl_event>(ObjectKind::Event, &clReleaseEvent);
    release_all<cl_kernel>(ObjectKind::Kernel, &clReleaseKernel);
    release_all<cl_program>(ObjectKind::Program, &clReleaseProgram);
    for (const ObjectKind k : {ObjectKind::Buffer, ObjectKind::Image}) release_all<cl_mem>(k, &clReleaseMemObject);
    release_all<cl_command_queue>(ObjectKind::Queue, &clReleaseCommandQueue);
    release_all<cl_context>(ObjectKind::Context, &clReleaseContext);
  }

 private:
  template <class Handle>
  void release_all(ObjectKind kind, cl_int (*give_back)(Handle)) {
    for (const uint64_t o : of_[static_cast<size_t>(kind)]) give_back(reinterpret_cast<Handle>(o));
  }
  std::array<std::set<uint64_t>, static_cast<size_t>(ObjectKind::OtherHandle)> of_;
};

}  // namespace

std::vector<Bytes> fuzz_seeds() {
  std::vector<Bytes> seeds;
  for (uint16_t fn = 1; fn < api::FnCount; ++fn) {
    if (!is_left_out(fn) && fake::exported(static_cast<FnId>(fn))) seeds.push_back(record(static_cast<FnId>(fn)));
  }
  return seeds;
}

// Objects that an input makes and no name leads to stay.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  model::Trace trace = empty_trace();
  Bytes input = beginning();
  input.insert(input.end(), data, data + size);
  std::vector<std::vector<int64_t>> rows;
  for (ByteView left = input; !left.empty() && rows.size() < MostCalls;) {
    const ByteView one = left.first(std::min(RecordBytes, left.size()));
    left = left.subspan(one.size());
    Call call(one);
    trace.shapes.push_back(std::move(call.shape));
    rows.push_back(std::move(call.values));
  }
  const Result<DeviceChoice> devices = DeviceChoice::choose(library(), trace, "");
  if (!devices) std::abort();
  const AnyContents contents;
  ReplayWorld world(trace, library(), *devices);
  world.contents = &contents;
  world.measures = true;
  Made made;
  {
    Replayer replayer(world);
    for (model::ShapeId s = 0; s < rows.size(); ++s) {
      (void)replayer.call(s, rows[s], s + 1);
      made.look(world);
    }
  }
  made.release();
  g_shared.clear();
  return 0;
}
