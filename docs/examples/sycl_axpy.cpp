// A SYCL program whose kernels are compiled by DPC++ while it runs (sycl_ext_oneapi_kernel_compiler): to build it no
// compiler but the host's is needed. It uses all three kinds of unified shared memory; both sums are the same.
//
//   pip install intel-sycl-rt intel-opencl-rt      (the headers are in it, and the compiler, as a library)
//   g++ -std=c++17 -w -I ENV/include sycl_axpy.cpp -o sycl_axpy -L ENV/lib -lsycl -Wl,-rpath,ENV/lib
//   ONEAPI_DEVICE_SELECTOR=opencl:cpu goptimize run --remote URL --only remote -- ./sycl_axpy
#include <cstdio>
#include <numeric>
#include <string>
#include <sycl/sycl.hpp>
#include <vector>

namespace syclexp = sycl::ext::oneapi::experimental;

static const std::string Source = R"(
#include <sycl/sycl.hpp>
namespace syclext = sycl::ext::oneapi;
namespace syclexp = sycl::ext::oneapi::experimental;
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::nd_range_kernel<1>))
void axpy(float a, const float* x, float* y) {
  size_t i = syclext::this_work_item::get_nd_item<1>().get_global_linear_id();
  y[i] += a * x[i];
}
template <int N>
struct Polynomial {
  float c[N];
  float at(float x) const {
    float v = 0;
    for (int i = N - 1; i >= 0; --i) v = v * x + c[i];
    return v;
  }
};
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::nd_range_kernel<1>))
void polynomial(float* y) {
  size_t i = syclext::this_work_item::get_nd_item<1>().get_global_linear_id();
  y[i] = Polynomial<3>{{1.f, 2.f, 0.5f}}.at(y[i]);
}
)";

int main() {
  sycl::queue q{sycl::property::queue::in_order{}};
  std::printf("%s\n", q.get_device().get_info<sycl::info::device::name>().c_str());
  if (!q.get_device().ext_oneapi_can_build(syclexp::source_language::sycl)) return 77;
  auto source = syclexp::create_kernel_bundle_from_source(q.get_context(), syclexp::source_language::sycl, Source);
  auto built = syclexp::build(source);
  sycl::kernel axpy = built.ext_oneapi_get_kernel("axpy"), polynomial = built.ext_oneapi_get_kernel("polynomial");
  const size_t n = 4096, bytes = n * sizeof(float);
  std::vector<float> x(n), out(n);
  std::iota(x.begin(), x.end(), 0.f);
  float* const device = sycl::malloc_device<float>(n, q);
  float* const shared = sycl::malloc_shared<float>(n, q);
  float* const host = sycl::malloc_host<float>(n, q);
  std::fill(shared, shared + n, 1.f);
  q.memcpy(device, x.data(), bytes).wait();
  for (int k = 0; k < 3; ++k) {
    q.submit([&](sycl::handler& h) {
      h.set_args(0.5f, device, shared);
      h.parallel_for(sycl::nd_range<1>{n, 64}, axpy);
    });
  }
  q.submit([&](sycl::handler& h) {
    h.set_args(shared);
    h.parallel_for(sycl::nd_range<1>{n, 64}, polynomial);
  });
  q.wait();
  const double seen = std::accumulate(shared, shared + n, 0.0);
  q.memcpy(host, shared, bytes).wait();
  q.memcpy(out.data(), host, bytes).wait();
  std::printf("%.1f %.1f\n", seen, std::accumulate(out.begin(), out.end(), 0.0));
  for (float* p : {device, shared, host}) sycl::free(p, q);
  return 0;
}
