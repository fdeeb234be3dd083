// What the n-body programs compute, one on a device and one on several: all pairs, and how a step is checked.
#pragma once

#include <cstddef>

#include "microbench/apps/harness.h"

namespace gt::apps {

struct Body {
  float x, y, z, w;  // w: mass of a position, unused in a velocity
};

inline constexpr float Dt = 0.001f, Softening = 0.01f;
// kernel nbody(from, to, velocity, n, dt, eps): the body of each work-item, pulled by all n of `from`.
extern const char* const NbodySource;

inline Option bodies_option(int64_t& bodies) {
  return {.name = "--bodies",
          .help = "bodies",
          .number = &bodies,
          .small = 4096,
          .large = 1 << 17,
          .least = 2,
          .most = 1 << 24};
}

// The bodies in the beginning; they are at rest.
void fill_positions(Body* positions, size_t n);
// One step computed on the host for some bodies.
bool step_is_right(const Body* before, const Body* old_velocity, const Body* velocity, size_t n);
// The bodies start at rest and have equal masses, so their velocities must sum to nearly nothing.
bool momentum_is_conserved(const Body* velocity, size_t n);

}  // namespace gt::apps
