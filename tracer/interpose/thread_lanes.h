// Which number does a thread get among those that its creator started? The lowest that is free: so a program that
// starts and joins a thread for every piece of work has one child, again and again, and its calls fold like a loop's.
//
// A lane is free again when its thread was joined, or has ended if it is detached. A thread that has ended and waits to
// be joined keeps its lane: whether it was fast must not change anybody's number.
// Invariant: a lane is taken by one thread at a time. Lanes from MostLanes on are counted upwards and never come back
// (a creator with so many live threads, or more creators than the table holds).
// Thread safety: all functions, without a lock. Cost: a hash and some atomic operations a thread.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "tracer/interpose/thread_path.h"

namespace gt::interpose {

struct Family;

struct Lane {
  Family* family = nullptr;  // nullptr: a number that does not come back
  uint32_t number = 0;
};

Lane take_lane(const ThreadPath& creator, bool driver);
void give_back(Lane lane);

// What frees the lane of a thread that nobody joins, whichever comes first.
enum class Fate : uint8_t { Detached = 1, Ended = 2 };
void meet(Lane lane, Fate fate);

// The thread that has the lane, once it is known: called by its creator.
void name_lane(Lane lane, pthread_t thread);
// The lane of a thread that was named; without a family when there is none.
Lane lane_of(pthread_t thread);

}  // namespace gt::interpose
