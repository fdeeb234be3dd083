#include "optimizer-rt/client/transfer/native_ways.h"

#include <memory>

#include "optimizer-rt/client/session/local_executor.h"

namespace gt::virt {
namespace {

NativeMoves::End end_at(Place& place) {
  const LocalExecutor& executor = *place.session.local();
  const auto device = place.session.native<cl_device_id>(api::ObjectKind::Device, place.devices[0]->name);
  return {executor.cl(), place.session.native<cl_context>(api::ObjectKind::Context, place.name), device,
          executor.driver_lock(device)};
}

}  // namespace

NativeMem native_mem(_cl_mem& mem, Place& place) {
  return {place.session.local()->cl(), place.session.native<cl_mem>(api::ObjectKind::Buffer, mem.at(place))};
}

NativeMoves& way_between(Place& from, Place& to) {
  std::unique_ptr<NativeMoves>& way = from.context.ways[{from.index, to.index}];
  if (!way) way = std::make_unique<NativeMoves>(end_at(from), end_at(to));
  return *way;
}

}  // namespace gt::virt
