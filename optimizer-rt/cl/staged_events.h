// Events that the program got for staged transfers. To the driver they are markers which began when the transfer was
// over; the program is to see the command that it enqueued.
//
// Invariant: an entry lives from publish() until the program's last reference is released; references are counted here,
// because ours would show. Thread safety: all functions. Cost: one load and test while there is no such event.
#pragma once

#include "transport/staging/stager.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

// Around fork(): the child must not find the table locked by a thread that it does not have.
void lock_staged_events() noexcept;
void unlock_staged_events() noexcept;

bool room_for_staged_event() noexcept;
// The stager's publisher: an event is made (the program has one reference), or its start or its error is known.
void publish_staged_event(const staging::EventFacts& facts) noexcept;
void staged_event_retained(cl_event event) noexcept;
void staged_event_releasing(cl_event event) noexcept;

// Put right what the driver answered, if the event is a staged transfer's.
void correct_event_info(cl_event event, cl_event_info what, size_t size, void* value) noexcept;
void correct_profiling_info(cl_event event, cl_profiling_info what, size_t size, void* value) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
