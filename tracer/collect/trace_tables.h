// The tables of the trace that is being made: sites, classes, blobs, shapes. Equal rows get the same number.
//
// Thread safety: none. Cost: a look-up in a hash map; sites are remembered by address.
#pragma once

#include <span>
#include <vector>

#include "tracer/collect/chains.h"
#include "tracer/collect/interning.h"
#include "tracer/collect/names.h"
#include "tracer/collect/traced_thread.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

struct HashBlob {
  size_t operator()(const model::Blob& b) const;
};
struct HashShape {
  size_t operator()(const model::Shape& s) const;
};

class TraceTables {
 public:
  TraceTables() = default;
  TraceTables(const TraceTables&) = delete;
  TraceTables& operator=(const TraceTables&) = delete;

  model::Trace trace;
  Names names{trace.classes};

  model::SiteId site_of(TracedProcess& process, uint64_t address);
  // With the calls around it, innermost first.
  model::SiteId site_of(TracedProcess& process, uint64_t address, std::span<const uint64_t> around);
  model::BlobId blob_of(ByteView bytes, uint64_t full_size);
  model::ShapeId intern_shape(const model::Shape& shape);
  // Of what the thread's pending call makes.
  model::ClassId class_of(const TracedThread& thread, model::ObjectKind kind, model::BlobId label = model::NoIndex);
  model::ClassId class_of_data(uint32_t module);  // its static data
  // Cuts the chains of sites down to what tells them apart. Once, at the end.
  void settle_chains() { chains_.settle(trace); }

 private:
  model::Site place_in_module(TracedProcess& process, uint64_t address);

  Interning<model::Site, HashSite> sites_{trace.sites};  // the plain ones; those with a chain are chains_'
  Chains chains_{trace.sites};
  Interning<model::Blob, HashBlob> blobs_{trace.blobs};
  Interning<model::Shape, HashShape> shapes_{trace.shapes};
  std::vector<model::ClassId> data_classes_;  // by module
};

}  // namespace gt::tracer
