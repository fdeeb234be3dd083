#include "optimizer-rt/client/calls/arguments.h"

#include <algorithm>
#include <utility>

#include "optimizer-rt/client/objects/device_address.h"

namespace gt::virt {

using Form = ArgValue::Form;

bool is_written(const _cl_kernel& kernel, size_t index, const _cl_mem& mem) {
  const wire::ArgInfo& info = kernel.info.args[index];
  if (index < kernel.may_write.size() && !kernel.may_write[index]) return false;
  if (mem.flags & CL_MEM_READ_ONLY || info.kind == wire::ArgInfo::Kind::Constant) return false;
  if (info.kind == wire::ArgInfo::Kind::Image) return info.access != CL_KERNEL_ARG_ACCESS_READ_ONLY;
  return !(info.type_qualifier & CL_KERNEL_ARG_TYPE_CONST);
}

wire::KernelArg message_of(uint32_t index, const ArgValue& arg, SubContext& sub_context) {
  wire::KernelArg out;
  out.index = index;
  switch (arg.form) {
    case Form::Mem:
      out.form = wire::KernelArg::Form::Object;
      out.object = arg.mem ? arg.mem->at(sub_context) : 0;
      break;
    case Form::Sampler:
      out.form = wire::KernelArg::Form::Object;
      out.object = arg.sampler->at(sub_context);
      break;
    case Form::Local:
      out.form = wire::KernelArg::Form::Local;
      out.size = arg.size;
      break;
    case Form::Svm:
      out.form = wire::KernelArg::Form::Svm;
      out.object = reinterpret_cast<uint64_t>(arg.svm);
      break;
    default:
      out.form = wire::KernelArg::Form::Value;
      out.value = arg.value;
      break;
  }
  return out;
}

std::vector<wire::KernelArg> changed_arguments(_cl_kernel& kernel, SubContext& sub_context) {
  const uint64_t renamed = kernel.program->context->renamed;
  if (std::exchange(kernel.renamed, renamed) != renamed)
    for (std::vector<uint64_t>& versions : kernel.sent) std::fill(versions.begin(), versions.end(), 0);
  std::vector<wire::KernelArg> changed;
  std::vector<uint64_t>& sent = kernel.sent[sub_context.index];
  for (size_t i = 0; i < kernel.args.size(); ++i) {
    if (sent[i] == kernel.args[i].version) continue;
    sent[i] = kernel.args[i].version;
    if (kernel.args[i].form == Form::Address) {  // goes ahead of the launch
      sub_context.session.call<api::FnId::clSetKernelArgDevicePointerEXT>(
          {}, as<cl_kernel>(kernel.at(sub_context)), static_cast<cl_uint>(i), kernel.args[i].address);
      continue;
    }
    changed.push_back(message_of(static_cast<uint32_t>(i), kernel.args[i], sub_context));
  }
  return changed;
}

void tell_reaches(_cl_kernel& kernel, SubContext& sub_context) {
  if (!std::exchange(kernel.addresses_sent, true))
    sub_context.session.call<api::FnId::clSetKernelExecInfo>(
        {}, as<cl_kernel>(kernel.at(sub_context)), ReachedAddresses, kernel.addresses.size() * sizeof(cl_ulong),
        static_cast<const void*>(kernel.addresses.empty() ? nullptr : kernel.addresses.data()));
  if (std::exchange(kernel.reaches_sent, true)) return;
  std::vector<const void*>& all = kernel.reaches;
  std::erase_if(all, [&](const void* p) { return !kernel.program->context->svm.find(p); });  // freed since
  sub_context.session.call<api::FnId::clSetKernelExecInfo>(
      {}, as<cl_kernel>(kernel.at(sub_context)), cl_kernel_exec_info{CL_KERNEL_EXEC_INFO_SVM_PTRS},
      all.size() * sizeof(void*), static_cast<const void*>(all.empty() ? nullptr : all.data()));
}

}  // namespace gt::virt
