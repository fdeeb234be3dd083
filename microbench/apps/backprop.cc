// Back-propagation in a network with a large input layer, sixteen hidden units and one output: the weights are sent
// for the forward pass, sent again with their momentum for the adjustment, and both are received.
//
// Two functions that know nothing of each other, as such programs have: each makes its device buffers, and releases
// them. Host arrays come from operator new[]; the partial sums of a forward pass are a new array in each epoch.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "microbench/apps/session.h"

namespace gt::apps {
namespace {

constexpr size_t Hidden = 16, Group = 64;  // work-items of a group: each takes one input unit
constexpr float Rate = 0.3f, Momentum = 0.3f, Target = 0.1f;
constexpr const char* Source = R"(
// partial[group] = the sum of input x weight over the group's input units, for each hidden unit
kernel void forward(global const float* input, global const float16* weight, global float16* partial) {
  local float16 part[64];
  const uint x = get_local_id(0), i = get_global_id(0);
  part[x] = input[i] * weight[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint half_of = 32; half_of > 0; half_of /= 2) {
    if (x < half_of) part[x] += part[x + half_of];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (x == 0) partial[get_group_id(0)] = part[0];
}
kernel void adjust(global const float* input, constant float16* delta, global float16* weight, global float16* change,
                   float rate, float momentum) {
  const uint i = get_global_id(0);
  const float16 now = rate * delta[0] * input[i] + momentum * change[i];
  weight[i] += now;
  change[i] = now;
}
)";

struct Settings : Common {
  Settings() { iterations = 5; }
  int64_t inputs = 1 << 15;
};
struct Layer {  // of one number for each hidden unit
  float unit[Hidden];
};
using Layers = std::unique_ptr<Layer[]>;

class Network {
 public:
  Network(Session& session, size_t inputs)
      : session_(session), n_(inputs), forward_(session.kernel("forward")), adjust_(session.kernel("adjust")) {
    if (session.hand_pinned()) pinned_partial_ = session.pinned<Layer>(n_ / Group);
  }

  // What each hidden unit sees.
  Layer forward(const float* input, const Layer* weights) {
    cl_mem d_input = make_buffer(session_.device(), CL_MEM_READ_ONLY, n_ * sizeof(float));
    cl_mem d_weights = make_buffer(session_.device(), CL_MEM_READ_ONLY, n_ * sizeof(Layer));
    cl_mem d_partial = make_buffer(session_.device(), CL_MEM_WRITE_ONLY, n_ / Group * sizeof(Layer));
    Layers own(pinned_partial_ != nullptr ? nullptr : new Layer[n_ / Group]);
    Layer* partial = pinned_partial_ != nullptr ? pinned_partial_ : own.get();
    session_.write(d_input, input, n_ * sizeof(float));
    session_.write(d_weights, weights, n_ * sizeof(Layer));
    set_args(forward_, d_input, d_weights, d_partial);
    session_.launch(forward_, {n_}, {Group});
    session_.read(d_partial, partial, n_ / Group * sizeof(Layer));
    for (cl_mem buffer : {d_input, d_weights, d_partial}) release(buffer);
    Layer sum{};
    for (size_t g = 0; g < n_ / Group; ++g)
      for (size_t h = 0; h < Hidden; ++h) sum.unit[h] += partial[g].unit[h];
    return sum;
  }

  void adjust(const float* input, const Layer& delta, Layer* weights, Layer* changes) {
    cl_mem d_input = make_buffer(session_.device(), CL_MEM_READ_ONLY, n_ * sizeof(float));
    cl_mem d_delta = make_buffer(session_.device(), CL_MEM_READ_ONLY, sizeof(Layer));
    cl_mem d_weights = make_buffer(session_.device(), CL_MEM_READ_WRITE, n_ * sizeof(Layer));
    cl_mem d_changes = make_buffer(session_.device(), CL_MEM_READ_WRITE, n_ * sizeof(Layer));
    session_.write(d_input, input, n_ * sizeof(float));
    session_.write(d_delta, &delta, sizeof delta);
    session_.write(d_weights, weights, n_ * sizeof(Layer));
    session_.write(d_changes, changes, n_ * sizeof(Layer));
    set_args(adjust_, d_input, d_delta, d_weights, d_changes, Rate, Momentum);
    session_.launch(adjust_, {n_});
    session_.read(d_weights, weights, n_ * sizeof(Layer));
    session_.read(d_changes, changes, n_ * sizeof(Layer));
    for (cl_mem buffer : {d_input, d_delta, d_weights, d_changes}) release(buffer);
  }

 private:
  Session& session_;
  size_t n_;
  cl_kernel forward_, adjust_;
  Layer* pinned_partial_ = nullptr;
};

// The small part of the network, on the host: the hidden units' share in the output's error.
Layer deltas(const Layer& sum) {
  Layer hidden, delta;
  float out = 0;
  for (size_t h = 0; h < Hidden; ++h) {
    hidden.unit[h] = 1 / (1 + std::exp(-sum.unit[h]));
    out += hidden.unit[h] / Hidden;
  }
  const float error = out * (1 - out) * (Target - out);
  for (size_t h = 0; h < Hidden; ++h) delta.unit[h] = hidden.unit[h] * (1 - hidden.unit[h]) * error / Hidden;
  return delta;
}

bool near(double a, double b) { return std::fabs(a - b) <= 1e-4 * (1e-4 + std::fabs(b)); }

// A sample of the weights, taken through all epochs again.
bool weights_are_right(const float* input, const Layer* first, const Layer* last, size_t n,
                       const std::vector<Layer>& epochs) {
  const size_t stride = std::max<size_t>(1, n / 4096);
  for (size_t i = 0; i < n; i += stride)
    for (size_t h = 0; h < Hidden; ++h) {
      double weight = double{first[i / stride].unit[h]}, change = 0;
      for (const Layer& delta : epochs) {
        change = double{Rate} * double{delta.unit[h]} * double{input[i]} + double{Momentum} * change;
        weight += change;
      }
      if (!near(double{last[i].unit[h]}, weight)) return false;
    }
  return true;
}

bool sums_are_right(const float* input, const Layer* weights, size_t n, const Layer& sum) {
  double expected[Hidden] = {}, size[Hidden] = {};
  for (size_t i = 0; i < n; ++i)
    for (size_t h = 0; h < Hidden; ++h) {
      const double product = double{input[i]} * double{weights[i].unit[h]};
      expected[h] += product;
      size[h] += std::fabs(product);
    }
  for (size_t h = 0; h < Hidden; ++h)
    if (!(std::fabs(expected[h] - double{sum.unit[h]}) <= 1e-5 * size[h])) return false;
  return true;
}

int run(const Settings& s) {
  const size_t n = static_cast<size_t>(s.inputs), stride = std::max<size_t>(1, n / 4096);
  Session session(Source, s.hand_pinned);
  Network network(session, n);
  float* input = session.memory<float>(n, [](size_t count) { return new float[count]; });
  Layer* weights = session.memory<Layer>(n, [](size_t count) { return new Layer[count]; });
  Layer* changes = session.memory<Layer>(n, [](size_t count) { return new Layer[count]; });
  Random random(41);
  std::vector<Layer> first, epochs;
  for (size_t i = 0; i < n; ++i) {
    input[i] = random.unit();
    for (float& w : weights[i].unit) w = (2 * random.unit() - 1) / std::sqrt(static_cast<float>(n));
    changes[i] = Layer{};
    if (i % stride == 0) first.push_back(weights[i]);
  }

  const double start = now_s();
  for (int64_t i = 0; i < s.iterations; ++i) {
    epochs.push_back(deltas(network.forward(input, weights)));
    network.adjust(input, epochs.back(), weights, changes);
  }
  const double seconds = now_s() - start;

  const Layer sum = network.forward(input, weights);
  const bool correct =
      weights_are_right(input, first.data(), weights, n, epochs) && sums_are_right(input, weights, n, sum);
  const uint64_t all = checksum({weights->unit, n * Hidden});
  session.give_back<float>(input, [](float* p) { delete[] p; });
  for (Layer* p : {weights, changes}) session.give_back<Layer>(p, [](Layer* l) { delete[] l; });
  return finish("backprop", correct, all, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {.name = "--inputs", .help = "units of the input layer, a multiple of 64", .number = &s.inputs, .small = 1 << 17,
       .large = 1 << 21, .least = 64, .most = 1 << 26, .multiple = 64},
      s.iterations_option(40, 40, "epochs"), s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Trains a network on an OpenCL device and checks its weights.", options);
  return gt::apps::run(s);
}
