// What the store and its readers need to know of a function number: its name and what it does. From
// the API table. Thread safety: constants.
#pragma once

#include <string>

#include "traces/model/fold/event.h"

namespace gt::store {

std::string function_name(
    model::FnId fn);  // "clEnqueueWriteBuffer", "malloc"; "function 7" when not known
model::Direction transfer_direction(model::FnId fn);  // the usual one: Shape::moves says what a call does
bool launches_kernel(model::FnId fn);                 // by itself: recording a launch is none
bool is_alloc_fn(model::FnId fn);
bool is_callback_fn(model::FnId fn);  // a function of the program that OpenCL called
const char* direction_name(model::Direction direction);  // "h2d", "d2h", "d2d", "" for None

}  // namespace gt::store
