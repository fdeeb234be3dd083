// One table of what functions tell by themselves, and checks of what their arguments tell.
#include "analyzer/remote/remote_eligibility.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "analyzer/calls/seen_values.h"
#include "traces/api/api.h"
#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

using model::ObjectKind;

struct Feature {
  const char* name;
  const char* reason;
  bool blocks;
};
constexpr Feature NativeKernel = {
    "native-kernel", "native kernels (clEnqueueNativeKernel) run the program's own code on the host", true};
constexpr Feature GlSharing = {"gl-sharing", "buffers, images or events shared with OpenGL", true};
constexpr Feature EglSharing = {"egl-sharing", "images or events shared with EGL", true};
constexpr Feature D3dSharing = {"d3d-sharing", "buffers or images shared with Direct3D", true};
constexpr Feature VideoSharing = {"va-sharing", "surfaces shared with a video decoder (VA-API)", true};
constexpr Feature ImportedMemory = {"imported-memory", "imported host memory (clImportMemoryARM)", true};
constexpr Feature ExternalMemory = {"external-memory", "memory or semaphores of another API of this machine", true};
constexpr Feature HostUsm = {
    "host-usm", "unified shared memory of the host (clHostMemAllocINTEL): its pages travel between commands", false};
constexpr Feature SharedUsm = {
    "shared-usm", "unified shared memory (clSharedMemAllocINTEL): its pages travel between commands", false};
constexpr Feature UnifiedSvm = {
    "unified-svm", "unified shared virtual memory (clSVMAllocWithPropertiesKHR)", true};
constexpr Feature ArmSvm = {"arm-svm", "shared virtual memory of ARM's extension (clSVMAllocARM)", true};
constexpr Feature DeviceAddress = {
    "device-address", "kernels that are given buffers' addresses: only where a driver has cl_ext_buffer_device_address",
    false};
constexpr Feature Pipes = {"pipes", "pipes (clCreatePipe) and host pipes of programs", true};
constexpr Feature Termination = {"terminate-context", "a context that is ended with what is under way", true};
constexpr Feature FineSvm = {
    "fine-grain-svm",
    "fine-grained shared virtual memory: its pages travel between commands; only where a driver has it", false};
constexpr Feature AtomicSvm = {
    "svm-atomics", "shared virtual memory with atomics: host and device see each other's writes at once", true};
constexpr Feature VaryingSvm = {"svm-atomics", "shared virtual memory whose kind varies: it may have atomics", true};
constexpr Feature SystemSvm = {"system-svm", "kernels that are given pointers into the program's ordinary memory",
                               true};
constexpr Feature CoarseSvm = {"coarse-svm", "shared virtual memory: pointers must mean the same on both machines",
                               false};
constexpr Feature UsedWhileMapped = {
    "used-while-mapped", "kernels that work on a buffer while it is mapped: they share the host's memory", true};
constexpr Feature HostPointer = {
    "use-host-ptr",
    "buffers in the program's own memory (CL_MEM_USE_HOST_PTR): it is brought up to date only when they "
    "are mapped or read",
    false};
constexpr Feature DeviceBinary = {
    "device-binary", "programs made from binaries: they fit only a device like the one that they were made on", false};
constexpr Feature Printf = {"printf", "kernels that print: what they print must be brought back", false};

struct Row {
  std::string_view prefix;  // of the function's name
  const Feature& feature;
};
constexpr Row ByName[] = {
    {"clEnqueueNativeKernel", NativeKernel},
    {"clCreateFromGL", GlSharing},
    {"clCreateEventFromGL", GlSharing},
    {"clEnqueueAcquireGL", GlSharing},
    {"clCreateFromEGL", EglSharing},
    {"clCreateEventFromEGL", EglSharing},
    {"clEnqueueAcquireEGL", EglSharing},
    {"clCreateFromD3D", D3dSharing},
    {"clCreateFromDX9", D3dSharing},
    {"clCreateFromVA", VideoSharing},
    {"clImportMemory", ImportedMemory},
    {"clEnqueueAcquireExternalMem", ExternalMemory},
    {"clGetSemaphoreHandle", ExternalMemory},
    {"clReImportSemaphore", ExternalMemory},
    {"clHostMemAllocINTEL", HostUsm},
    {"clSharedMemAllocINTEL", SharedUsm},
    {"clSVMAllocWithProperties", UnifiedSvm},
    {"clSVMAllocARM", ArmSvm},
    {"clSetKernelArgDevicePointer", DeviceAddress},
    {"clCreatePipe", Pipes},
    {"clEnqueueReadHostPipe", Pipes},
    {"clEnqueueWriteHostPipe", Pipes},
    {"clTerminateContext", Termination},
    {"clCreateProgramWithBinary", DeviceBinary},
};

// Keys of properties that tie a context to another API, or memory to what is of this machine. A value of 0 is none.
struct Key {
  int64_t first, last;
  const Feature& feature;
};
constexpr Key Keys[] = {
    {0x2008, 0x2008, GlSharing},  {0x2009, 0x2009, EglSharing},   {0x200A, 0x200C, GlSharing},
    {0x2026, 0x2026, D3dSharing}, {0x4014, 0x4014, D3dSharing},   {0x401D, 0x401D, D3dSharing},
    {0x4097, 0x4097, VideoSharing}, {0x2060, 0x2070, ExternalMemory},  // kinds of handles
    {0x5000, 0x5000, DeviceAddress},
};

constexpr int64_t SvmFineGrain = 1 << 10;  // CL_MEM_SVM_FINE_GRAIN_BUFFER
constexpr int64_t SvmAtomics = 1 << 11;    // CL_MEM_SVM_ATOMICS
constexpr int64_t UseHostPtr = 1 << 3;     // CL_MEM_USE_HOST_PTR
constexpr uint16_t SvmFlagsParam = 1;

bool is_host_memory(ObjectKind kind) {
  return kind == ObjectKind::Segment || kind == ObjectKind::Static || kind == ObjectKind::Stack ||
         kind == ObjectKind::File || kind == ObjectKind::String;
}

class Search {
 public:
  Search(const model::Trace& trace, CallSites& sites, const Effects& effects)
      : trace_(trace), sites_(sites), effects_(effects) {}

  RemoteEligibility run() {
    find_names();
    seen_ = find_seen_values(trace_, with_interesting_values());
    for (const auto& [shape, values] : seen_) look_at_values(shape, values);
    for (model::ShapeId i = 0; i < trace_.shapes.size(); ++i) look_at_objects(i);
    for (const model::ShapeId i : find_mapped_launches(trace_, effects_)) add(UsedWhileMapped, i);
    look_at_sources();
    return finish();
  }

 private:
  uint64_t calls(model::ShapeId i) const {
    const model::ShapeStats& s = trace_.stats[i];
    return s.calls - std::min(s.failed, s.calls);
  }

  void find_names() {
    for (const model::Shape& s : trace_.shapes) names_.push_back(store::function_name(s.fn));
  }

  // The parameter with the properties of a context, a buffer or an image; -1: there are none.
  int property_list(model::ShapeId i) const {
    if (names_[i].starts_with("clCreateContext")) return 0;
    return memory_flags(i) >= 0 && names_[i].find("WithProperties") != std::string::npos ? 1 : -1;
  }
  bool is_svm(model::ShapeId i) const { return names_[i] == "clSVMAlloc" || names_[i] == "clSVMAllocARM"; }
  // The parameter with memory flags of a call that makes a buffer or an image; -1: it is none.
  int memory_flags(model::ShapeId i) const {
    const api::Attributes& a = api::attributes(trace_.shapes[i].fn);
    return a.creates == ObjectKind::Buffer || a.creates == ObjectKind::Image ? a.flags : -1;
  }

  std::set<model::ShapeId> with_interesting_values() const {
    std::set<model::ShapeId> out;
    for (model::ShapeId i = 0; i < names_.size(); ++i)
      if (property_list(i) >= 0 || is_svm(i) || memory_flags(i) >= 0) out.insert(i);
    return out;
  }

  void look_at_values(model::ShapeId shape, const std::vector<SeenValues>& values) {
    size_t value = 0;
    const SeenValues* key = nullptr;
    for (const model::Arg& a : trace_.shapes[shape].args) {
      if (a.form == model::ArgForm::Int && value < values.size()) {
        if (is_svm(shape) && a.param == SvmFlagsParam) svm(shape, values[value]);
        if (a.param == memory_flags(shape)) memory(shape, values[value]);
      }
      if (a.param == property_list(shape)) {  // keys and values take turns
        if (key && a.form != model::ArgForm::Null) property(shape, *key);
        const bool is_key = !key && a.form == model::ArgForm::Int && value < values.size();
        key = is_key ? &values[value] : nullptr;
      }
      value += static_cast<size_t>(model::value_count(a.form));
    }
  }
  void svm(model::ShapeId shape, const SeenValues& flags) {
    const auto any = [&](int64_t bit) {
      return std::any_of(flags.values.begin(), flags.values.end(), [bit](int64_t v) { return (v & bit) != 0; });
    };
    if (any(SvmAtomics)) return add(AtomicSvm, shape);
    add(flags.more ? VaryingSvm : any(SvmFineGrain) ? FineSvm : CoarseSvm, shape);
  }
  void memory(model::ShapeId shape, const SeenValues& flags) {
    const auto uses = [](int64_t v) { return (v & UseHostPtr) != 0; };
    if (std::any_of(flags.values.begin(), flags.values.end(), uses)) add(HostPointer, shape);
  }
  void property(model::ShapeId shape, const SeenValues& key) {
    for (const Key& k : Keys) {
      const auto found = key.values.lower_bound(k.first);
      if (found != key.values.end() && *found <= k.last) add(k.feature, shape);
    }
  }

  void look_at_objects(model::ShapeId i) {
    for (const Row& row : ByName)
      if (std::string_view(names_[i]).starts_with(row.prefix)) add(row.feature, i);
    if (!names_[i].starts_with("clSetKernelArgSVMPointer")) return;
    for (const model::Arg& a : trace_.shapes[i].args) {
      const bool ordinary = a.cls < trace_.classes.size() && a.form == model::ArgForm::Memory &&
                            is_host_memory(trace_.classes[a.cls].kind);
      if (ordinary) return add(SystemSvm, i);
    }
  }

  // What a source says concerns the call that launches its kernel.
  void look_at_sources() {
    std::map<model::ClassId, const model::Kernel*> kernels;
    for (const model::Kernel& k : trace_.kernels) kernels[k.cls] = &k;
    std::map<model::BlobId, bool> prints;
    for (model::ShapeId i = 0; i < trace_.shapes.size(); ++i) {
      if (!store::launches_kernel(trace_.shapes[i].fn)) continue;
      for (const model::Arg& a : trace_.shapes[i].args) {
        const auto k = a.param == 1 ? kernels.find(a.cls) : kernels.end();
        if (k == kernels.end()) continue;
        if (contains(k->second->source, "printf", prints)) add(Printf, i);
      }
    }
  }
  bool contains(model::BlobId blob, std::string_view word, std::map<model::BlobId, bool>& known) const {
    if (blob >= trace_.blobs.size()) return false;
    const auto [at, fresh] = known.try_emplace(blob);
    if (fresh) at->second = as_text(trace_.blobs[blob].bytes).find(word) != std::string_view::npos;
    return at->second;
  }

  void add(const Feature& feature, model::ShapeId shape) {
    if (calls(shape) == 0) return;
    const model::Shape& s = trace_.shapes[shape];
    RemoteFeature f{feature.name, feature.reason, feature.blocks, names_[shape], sites_.find(trace_, s.site),
                    calls(shape), queue_of(s)};
    const auto same = [&](const RemoteFeature& o) {
      return o.name == f.name && o.function == f.function && o.queue == f.queue && o.site.module == f.site.module &&
             o.site.offset == f.site.offset;
    };
    const auto old = std::find_if(out_.features.begin(), out_.features.end(), same);
    if (old == out_.features.end()) {
      out_.features.push_back(std::move(f));
    } else {
      old->calls += f.calls;
    }
  }

  model::ClassId queue_of(const model::Shape& s) const {
    for (const model::Arg& a : s.args)
      if (a.cls < trace_.classes.size() && trace_.classes[a.cls].kind == ObjectKind::Queue) return a.cls;
    return model::NoIndex;
  }

  RemoteEligibility finish() {
    std::stable_sort(out_.features.begin(), out_.features.end(),
                     [](const RemoteFeature& a, const RemoteFeature& b) { return a.blocks > b.blocks; });
    for (const RemoteFeature& f : out_.features) {
      const bool known = std::find(out_.reasons.begin(), out_.reasons.end(), f.reason) != out_.reasons.end();
      if (f.blocks && !known) out_.reasons.push_back(f.reason);
    }
    out_.eligible = out_.reasons.empty();
    add_queues();
    return std::move(out_);
  }

  void add_queues() {
    std::map<model::ClassId, uint64_t> commands;
    for (model::ShapeId i = 0; i < trace_.shapes.size(); ++i) {
      const model::ClassId queue = queue_of(trace_.shapes[i]);
      if (queue != model::NoIndex) commands[queue] += names_[i].starts_with("clEnqueue") ? calls(i) : 0;
    }
    for (const auto& [queue, count] : commands) {
      const auto stands_against = [&, queue = queue](const RemoteFeature& f) {
        return f.blocks && (f.queue == model::NoIndex || f.queue == queue);
      };
      const bool eligible = std::none_of(out_.features.begin(), out_.features.end(), stands_against);
      out_.queues.push_back({queue, sites_.find(trace_, trace_.classes[queue].site), eligible, count});
    }
  }

  const model::Trace& trace_;
  CallSites& sites_;
  const Effects& effects_;
  std::vector<std::string> names_;  // of each shape's function
  std::map<model::ShapeId, std::vector<SeenValues>> seen_;
  RemoteEligibility out_;
};

}  // namespace

RemoteEligibility find_remote_eligibility(const model::Trace& trace, CallSites& sites, const Effects& effects) {
  return Search(trace, sites, effects).run();
}

}  // namespace gt::analyzer
