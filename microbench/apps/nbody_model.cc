#include "microbench/apps/nbody_model.h"

#include <algorithm>
#include <cmath>

namespace gt::apps {

const char* const NbodySource = R"(
kernel void nbody(global const float4* from, global float4* to, global float4* velocity, uint n, float dt, float eps) {
  const uint i = get_global_id(0);
  const float4 p = from[i];
  float3 pull = (float3)(0.0f, 0.0f, 0.0f);
  for (uint j = 0; j < n; ++j) {
    const float4 q = from[j];
    const float3 d = q.xyz - p.xyz;
    const float inverse = 1.0f / sqrt(dot(d, d) + eps);
    pull += d * (q.w * inverse * inverse * inverse);
  }
  float4 v = velocity[i];
  v.xyz += pull * dt;
  velocity[i] = v;
  to[i] = (float4)(p.xyz + v.xyz * dt, p.w);
}
)";

namespace {

Body host_velocity(const Body* p, Body v, size_t i, size_t n) {
  double pull[3] = {0, 0, 0};
  for (size_t j = 0; j < n; ++j) {
    const double dx = p[j].x - p[i].x, dy = p[j].y - p[i].y, dz = p[j].z - p[i].z;
    const double inverse = 1.0 / std::sqrt(dx * dx + dy * dy + dz * dz + double{Softening});
    const double scale = double{p[j].w} * inverse * inverse * inverse;
    pull[0] += dx * scale;
    pull[1] += dy * scale;
    pull[2] += dz * scale;
  }
  return {v.x + static_cast<float>(pull[0]) * Dt, v.y + static_cast<float>(pull[1]) * Dt,
          v.z + static_cast<float>(pull[2]) * Dt, 0};
}

bool near(float a, float b) { return std::fabs(a - b) <= 1e-4f * (1e-2f + std::fabs(b)); }

}  // namespace

void fill_positions(Body* positions, size_t n) {
  Random random(12345);
  for (size_t i = 0; i < n; ++i) {
    const float x = random.unit() - 0.5f, y = random.unit() - 0.5f;
    positions[i] = {x, y, random.unit() - 0.5f, 1.0f / static_cast<float>(n)};
  }
}

bool step_is_right(const Body* before, const Body* old_velocity, const Body* velocity, size_t n) {
  const size_t stride = std::max<size_t>(1, n / 64);
  for (size_t i = 0; i < n; i += stride) {
    const Body v = host_velocity(before, old_velocity[i], i, n);
    if (!near(velocity[i].x, v.x) || !near(velocity[i].y, v.y) || !near(velocity[i].z, v.z)) return false;
  }
  return true;
}

bool momentum_is_conserved(const Body* velocity, size_t n) {
  double sum = 0, size = 0;
  for (size_t i = 0; i < n; ++i) {
    sum += double{velocity[i].x} + double{velocity[i].y} + double{velocity[i].z};
    size += std::fabs(velocity[i].x) + std::fabs(velocity[i].y) + std::fabs(velocity[i].z);
  }
  return std::isfinite(size) && size > 0 && std::fabs(sum) <= 1e-3 * size;
}

}  // namespace gt::apps
