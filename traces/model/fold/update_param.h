// One more of the parameters that no function has (event.h): how commands of a command buffer are changed.
//
//   update  = Int(commands) command*            of clUpdateMutableCommandsKHR; Int(-1): they could not be read
//   command = Object Int(work_dim) change*      Raw or Null in place of Object: no command that was met
//   change  = Int(part) Int(index) Int(size) value        part: api::UpdatePart
//   value   = Int | Blob | Object | Memory | Null
// Thread safety: constants.
#pragma once

#include <cstdint>

namespace gt::model {

constexpr uint16_t ParamUpdate = 0xff09;

}  // namespace gt::model
