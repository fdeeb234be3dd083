// Has anything in the program's global scope replaced operator new or delete before us?
//
// Thread safety: all functions; no lock is taken.
#pragma once

#include <atomic>
#include <cstddef>

#include "traces/api/alloc_fn.h"

#pragma GCC visibility push(hidden)

namespace gt::interpose {

enum class Operators : int { Unknown, Ours, Replaced };
extern std::atomic<Operators> operators;

// The replaceable operators, in the order of AllocFn, from New on.
constexpr size_t OperatorCount =
    static_cast<size_t>(api::AllocFn::DeleteArrayAlignedNothrow) - static_cast<size_t>(api::AllocFn::New) + 1;
extern const char* const OperatorNames[OperatorCount];

// Called by resolve_libc().
void find_operators();

}  // namespace gt::interpose

#pragma GCC visibility pop
