// One more of the parameters that no function has (event.h): where shared virtual memory lay.
#pragma once

#include <cstdint>

namespace gt::model {

// Of a call that gave memory for the program and kernels (SVM, USM), with --capture full: its address (ArgForm::Int).
// Names need no addresses, but contents may hold them.
constexpr uint16_t ParamAddress = 0xff08;

}  // namespace gt::model
