// Matrix product, tiled through local memory; an iteration writes both operands and reads the result. Built twice:
// sgemm in single precision, dgemm in double.
#include "microbench/apps/gemm_model.h"
#include "microbench/apps/session.h"

namespace gt::apps {
namespace {

struct Settings : Common {
  Settings() { iterations = 5; }
  int64_t size = 256;
};

[[gnu::noinline]] Real* allocate_matrix(size_t n) { return checked<Real>(malloc(n * sizeof(Real)), n); }
[[gnu::noinline]] Real* allocate_product(size_t n) {
  const size_t bytes = n * sizeof(Real);
  return checked<Real>(malloc(bytes), n);
}

Real* make_matrix(Session& session, size_t n, size_t modulus) {
  Real* p = session.memory(n, allocate_matrix);
  fill_matrix(p, n, modulus);
  return p;
}

int run(const Settings& s) {
  const size_t n = static_cast<size_t>(s.size), bytes = n * n * sizeof(Real);
  Session session(gemm_source().c_str(), s.hand_pinned);
  cl_kernel kernel = session.kernel("gemm");
  Real* a = make_matrix(session, n * n, 5);
  Real* b = make_matrix(session, n * n, 3);
  Real* c = session.memory(n * n, allocate_product);
  cl_mem da = session.buffer(CL_MEM_READ_ONLY, bytes);
  cl_mem db = session.buffer(CL_MEM_READ_ONLY, bytes);
  cl_mem dc = session.buffer(CL_MEM_WRITE_ONLY, bytes);

  const double start = now_s();
  for (int64_t i = 0; i < s.iterations; ++i) {
    session.write(da, a, bytes, CL_FALSE);
    session.write(db, b, bytes, CL_FALSE);
    set_args(kernel, da, db, dc, static_cast<cl_uint>(n));
    session.launch(kernel, {n, n}, {Tile, Tile});
    session.read(dc, c, bytes);
  }
  const double seconds = now_s() - start;

  const bool correct = verify_product(a, b, c, n);
  const uint64_t sum = checksum_words(c, bytes);
  for (Real* p : {a, b, c}) session.give_back(p, free_memory);
  return finish(Name, correct, sum, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {gt::apps::size_option(s.size), s.iterations_option(10, 5, "products to compute"),
                                      s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Multiplies two square matrices on an OpenCL device and checks the result.", options);
  return gt::apps::run(s);
}
