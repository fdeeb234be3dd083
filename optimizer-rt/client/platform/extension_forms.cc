#include "optimizer-rt/client/platform/extension_forms.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "traces/api/later_forms.h"

namespace gt::virt {
namespace {

using api::FnId;

struct Changed {
  std::string_view extension;
  cl_version since;
};
constexpr std::array<Changed, 2> All = {{
    {api::CommandBuffers, api::CommandsHaveProperties},
    {api::MutableDispatch, api::UpdatesAreLists},
}};

Bytes* value_of(std::vector<wire::InfoValue>& infos, cl_device_info name) {
  const auto it = std::find_if(infos.begin(), infos.end(), [name](const auto& info) { return info.name == name; });
  return it == infos.end() ? nullptr : &it->value;
}

// What a device says of an extension: whether it lists it, and the version; 0: it tells none.
struct Listed {
  bool is = false;
  cl_version version = 0;
};
Listed listed(std::vector<wire::InfoValue>& infos, std::string_view extension) {
  Listed found;
  if (const Bytes* const text = value_of(infos, CL_DEVICE_EXTENSIONS)) {
    const std::string all = " " + std::string(text->begin(), std::find(text->begin(), text->end(), uint8_t{0})) + " ";
    found.is = all.find(" " + std::string(extension) + " ") != all.npos;
  }
  const Bytes* const versions = value_of(infos, CL_DEVICE_EXTENSIONS_WITH_VERSION);
  for (size_t at = 0; versions && at + sizeof(cl_name_version) <= versions->size(); at += sizeof(cl_name_version)) {
    cl_name_version one{};
    std::memcpy(&one, versions->data() + at, sizeof one);
    if (std::string_view(one.name, ::strnlen(one.name, sizeof one.name)) == extension) found.version = one.version;
  }
  return found;
}

void leave_out(std::vector<wire::InfoValue>& infos, std::string_view extension) {
  if (Bytes* const text = value_of(infos, CL_DEVICE_EXTENSIONS)) {
    std::string all = " " + std::string(text->begin(), std::find(text->begin(), text->end(), uint8_t{0})) + " ";
    const std::string name = " " + std::string(extension) + " ";
    if (const size_t at = all.find(name); at != all.npos) all.replace(at, name.size(), " ");
    text->assign(all.begin() + 1, std::max(all.begin() + 1, all.end() - 1));
    text->push_back(0);
  }
  Bytes* const versions = value_of(infos, CL_DEVICE_EXTENSIONS_WITH_VERSION);
  for (size_t at = 0; versions && at + sizeof(cl_name_version) <= versions->size();) {
    cl_name_version one{};
    std::memcpy(&one, versions->data() + at, sizeof one);
    const auto begin = versions->begin() + static_cast<std::ptrdiff_t>(at);
    if (std::string_view(one.name, ::strnlen(one.name, sizeof one.name)) == extension)
      versions->erase(begin, begin + sizeof one);
    else
      at += sizeof one;
  }
}

}  // namespace

void ExtensionForms::settle(std::vector<wire::InfoValue>& infos) {
  for (size_t i = 0; i < All.size(); ++i) {
    const Listed device = listed(infos, All[i].extension);
    if (!device.is) continue;
    const Form form = device.version >= All[i].since ? Form::Later : Form::Table;
    if (forms_[i] == Form::Unknown) forms_[i] = form;
    if (forms_[i] != form) leave_out(infos, All[i].extension);
  }
}

bool ExtensionForms::is_later(FnId function) const {
  if (function == FnId::clUpdateMutableCommandsKHR) return forms_[1] == Form::Later;
  return forms_[0] == Form::Later && api::lacks_properties(function);
}

}  // namespace gt::virt
