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

namespace {

// Of the blocks, those that are arguments.
std::vector<std::shared_ptr<SvmBlock>> use_pointers(const _cl_kernel& kernel, const SvmBlocks& blocks, SharedUse& use)
    GT_REQUIRES(kernel.mutex) {
  std::vector<std::shared_ptr<SvmBlock>> found;
  for (size_t i = 0; i < kernel.args.size(); ++i) {
    if (kernel.args[i].form != Form::Svm || !kernel.args[i].svm) continue;
    const auto block = blocks.find(kernel.args[i].svm);
    if (!block) continue;
    const wire::ArgInfo& info = kernel.info.args[i];
    const bool constant = info.kind == wire::ArgInfo::Kind::Constant ||
                          (kernel.info.told && (info.type_qualifier & CL_KERNEL_ARG_TYPE_CONST));
    constant ? use.reads(block) : use.writes(block);
    found.push_back(block);
  }
  return found;
}

void use_listed(const Reaches::Pointers& listed, const SvmBlocks& blocks, SharedUse& use) {
  for (const void* p : listed.value_or(std::vector<const void*>()))
    if (const auto block = blocks.find(p)) use.writes(block);
}

void use_usm(const _cl_kernel& kernel, const SvmBlocks& blocks, SharedUse& use) GT_REQUIRES(kernel.mutex) {
  use_pointers(kernel, blocks, use);
  use_listed(kernel.reaches.usm, blocks, use);
  const auto any = [&](cl_kernel_exec_info kind) GT_REQUIRES(kernel.mutex) {
    const auto it = kernel.reaches.kinds.find(kind);
    return it != kernel.reaches.kinds.end() && it->second;
  };
  const bool host = any(CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL),
             shared = any(CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL),
             device = any(CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL);
  if (!host && !shared && !device) return;
  const auto reached = [=](const std::shared_ptr<SvmBlock>& block) {
    const cl_unified_shared_memory_type_intel type = block->usm->type;
    return type == CL_MEM_TYPE_HOST_INTEL ? host : type == CL_MEM_TYPE_SHARED_INTEL ? shared : device;
  };
  for (const auto& block : blocks.in_step(reached)) use.writes(block);
}

// A kernel that was never told what it reaches may reach any block: drivers let it, though OpenCL wants to be told.
void use_fine_svm(const _cl_kernel& kernel, const SvmBlocks& blocks, SharedUse& use) GT_REQUIRES(kernel.mutex) {
  const auto arguments = use_pointers(kernel, blocks, use);
  if (kernel.reaches.svm || arguments.empty()) return use_listed(kernel.reaches.svm, blocks, use);
  const auto other = [&](const std::shared_ptr<SvmBlock>& block) {
    return std::find(arguments.begin(), arguments.end(), block) == arguments.end();
  };
  for (const auto& block : blocks.in_step(other)) use.writes(block);
}

}  // namespace

void use_shared(const _cl_kernel& kernel, SharedUse& use) {
  const _cl_context& context = *kernel.program->context;
  if (context.usm.any_in_step()) use_usm(kernel, context.usm, use);
  if (context.svm.any_in_step()) use_fine_svm(kernel, context.svm, use);
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
  Reaches& reaches = kernel.reaches;
  if (std::exchange(kernel.reaches_sent[sub_context.index], reaches.version) == reaches.version) return;
  const auto tell = [&](cl_kernel_exec_info what, const void* value, size_t bytes) {
    sub_context.session.call<api::FnId::clSetKernelExecInfo>({}, as<cl_kernel>(kernel.at(sub_context)), what, bytes,
                                                             bytes ? value : nullptr);
  };
  const auto tell_pointers = [&](cl_kernel_exec_info what, const SvmBlocks& blocks, const Reaches::Pointers& list) {
    if (!list) return;
    std::vector<const void*> there = *list;
    std::erase_if(there, [&](const void* p) {  // freed since, or elsewhere
      const auto block = blocks.find(p);
      return !block || &block->sub_context != &sub_context;
    });
    tell(what, there.data(), there.size() * sizeof(void*));
  };
  tell_pointers(CL_KERNEL_EXEC_INFO_SVM_PTRS, kernel.program->context->svm, reaches.svm);
  tell_pointers(CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, kernel.program->context->usm, reaches.usm);
  for (const auto& [kind, access] : reaches.kinds) tell(kind, &access, sizeof access);
}

}  // namespace gt::virt
