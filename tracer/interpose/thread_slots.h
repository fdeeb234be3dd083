// Which number does a thread get among those that its creator started? The lowest that is free: so a program that
// starts and joins a thread for every piece of work has one child, again and again, and its calls fold like a loop's.
//
// A thread slot is free again when its thread was joined, or has ended if it is detached. A thread that has ended and
// waits to be joined keeps its thread slot: whether it was fast must not change anybody's number.
// Invariant: a thread slot is taken by one thread at a time. Thread slots from MostSlots on are counted upwards and
// never come back (a creator with so many live threads, or more creators than the table holds).
// Thread safety: all functions, without a lock. Cost: a hash and some atomic operations a thread.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "tracer/interpose/thread_path.h"

namespace gt::interpose {

struct Family;

struct ThreadSlot {
  Family* family = nullptr;  // nullptr: a number that does not come back
  uint32_t number = 0;
};

ThreadSlot take_thread_slot(const ThreadPath& creator, bool driver);
void give_back(ThreadSlot thread_slot);

// What frees the thread slot of a thread that nobody joins, whichever comes first.
enum class Fate : uint8_t { Detached = 1, Ended = 2 };
void meet(ThreadSlot thread_slot, Fate fate);

// The thread that has the thread slot, once it is known: called by its creator.
void name_thread_slot(ThreadSlot thread_slot, pthread_t thread);
// The thread slot of a thread that was named; without a family when there is none.
ThreadSlot thread_slot_of(pthread_t thread);

}  // namespace gt::interpose
