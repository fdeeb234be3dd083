// Functions of extensions that have got other parameters since the table's headers, in that later form: what programs
// call whose devices have the later version (platform/extension_forms.h).
// Thread safety: no state.
#pragma once

#include "traces/api/fn_id.h"

namespace gt::virt {

// nullptr: the function has one form.
void* later_form(api::FnId function);

}  // namespace gt::virt
