#include "optimizer-rt/client/transfer/native_ways.h"

#include <memory>

#include "optimizer-rt/client/session/local_executor.h"

namespace gt::virt {
namespace {

NativeMoves::End end_at(SubContext& sub_context) {
  const LocalExecutor& executor = sub_context.session.local();
  const auto device = sub_context.session.native<cl_device_id>(api::ObjectKind::Device, sub_context.devices[0]->name);
  return {executor.cl(), sub_context.session.native<cl_context>(api::ObjectKind::Context, sub_context.name), device,
          executor.driver_lock(device)};
}

}  // namespace

NativeMem native_mem(_cl_mem& mem, SubContext& sub_context) {
  return {sub_context.session.local().cl(),
          sub_context.session.native<cl_mem>(api::ObjectKind::Buffer, mem.at(sub_context))};
}

bool name_native(cl_mem buffer, SubContext& sub_context, ObjectId name) {
  return sub_context.session.local().adopt(buffer, name);
}

NativeWay& way_between(SubContext& from, SubContext& to) {
  auto& ways = from.context.ways;
  std::unique_ptr<NativeWay>& way = ways[{from.index, to.index}];
  if (!way) way.reset(new NativeWay{{end_at(from), end_at(to)}, ways.size() - 1});
  return *way;
}

}  // namespace gt::virt
