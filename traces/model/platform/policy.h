// How host memory can be obtained so that transfers from and to it are fast: the vocabulary that
// the characterization (platform.json), the profile and the optimizer share. Margiolas & O'Boyle,
// section 5 (allocation policies), and pinning in place, which is ours.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gt::model {

enum class Policy : uint8_t {
  Standard,  // the C library's memory, left alone
  OpenCl,    // the driver's memory: CL_MEM_ALLOC_HOST_PTR, mapped
  Locked,    // ordinary memory, kept resident with mlock
  Hybrid,    // locked at once, pinned in place on its first transfer
  Pin,  // ordinary huge-page memory, pinned in place (CL_MEM_USE_HOST_PTR over it) on its first
        // transfer
  Count,
};
constexpr size_t PolicyCount = static_cast<size_t>(Policy::Count);
constexpr std::array<std::string_view, PolicyCount> PolicyNames = {"standard", "opencl", "locked",
                                                                   "hybrid", "pin"};

constexpr std::string_view policy_name(Policy p) { return PolicyNames[static_cast<size_t>(p)]; }
constexpr std::optional<Policy> parse_policy(std::string_view name) {
  for (size_t i = 0; i < PolicyCount; ++i)
    if (PolicyNames[i] == name) return static_cast<Policy>(i);
  return std::nullopt;
}

// Bytes: the C library gives larger blocks back to the system when they are freed (glibc's largest mmap threshold).
constexpr double ReturnedAbove = 32 << 20;

}  // namespace gt::model
