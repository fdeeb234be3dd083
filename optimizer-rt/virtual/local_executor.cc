#include "optimizer-rt/virtual/local_executor.h"

#include <CL/cl_icd.h>
#include <dlfcn.h>

#include <utility>

#include "transport/executor/executor.h"
#include "transport/link/local_link.h"

namespace gt::virt {
namespace {

// The functions of an ICD: from the dispatch table that its platform handles begin with. clGetPlatformIDs is the ICD's
// own.
Result<exec::Functions> functions_of_icd(const std::string& driver) {
  void* const library = ::dlopen(driver.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return Status(Kind::Unsupported, ::dlerror());
  using Address = void*(CL_API_CALL*)(const char*);
  using PlatformIds = cl_int(CL_API_CALL*)(cl_uint, cl_platform_id*, cl_uint*);
  const auto address = reinterpret_cast<Address>(::dlsym(library, "clGetExtensionFunctionAddress"));
  auto ids = reinterpret_cast<PlatformIds>(::dlsym(library, "clIcdGetPlatformIDsKHR"));
  if (!ids && address) ids = reinterpret_cast<PlatformIds>(address("clIcdGetPlatformIDsKHR"));
  cl_platform_id platform = nullptr;
  if (!ids || ids(1, &platform, nullptr) != CL_SUCCESS || !platform) {
    return Status(Kind::Unsupported, "it is no OpenCL driver, or has no platform");
  }
  const cl_icd_dispatch* table = nullptr;
  std::memcpy(&table, platform, sizeof table);
  exec::Functions functions;
  const auto put = [&](api::FnId fn, auto function) {
    functions.of[static_cast<size_t>(fn)] = reinterpret_cast<exec::AnyFunction>(function);
  };
  [&](const auto& t) {
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE) \
  if constexpr (requires { t.NAME; }) put(api::FnId::NAME, t.NAME);
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE)
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION
  }(*table);
  put(api::FnId::clGetPlatformIDs, ids);
  return functions;
}

// What lives behind the link. Destruction would need the link closed: it lives as long as the process.
struct Behind {
  exec::Functions functions;
  std::unique_ptr<wire::Link> link;
  std::unique_ptr<exec::Executor> executor;
};

}  // namespace

Result<Connection> connect_to_driver(const std::string& driver) {
  Result<exec::Functions> functions = functions_of_icd(driver);
  if (!functions.ok()) return functions.status();
  auto [ours, theirs] = wire::make_local_link();
  auto behind = std::make_shared<Behind>();
  behind->functions = *functions;
  behind->link = std::move(theirs);
  behind->executor = std::make_unique<exec::Executor>(behind->functions, *behind->link, exec::Limits{},
                                                      exec::Options{});
  const Status started = behind->executor->start();
  if (!started.ok()) return started;
  return Connection{std::move(ours), std::move(behind)};
}

}  // namespace gt::virt
