#include "tracer/collect/trace_tables.h"

#include <cstring>

namespace gt::tracer {

size_t HashBlob::operator()(const model::Blob& b) const {
  uint64_t h = mix(b.full_size, b.bytes.size());
  size_t i = 0;
  for (; i + 8 <= b.bytes.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, b.bytes.data() + i, 8);
    h = mix(h, word);
  }
  for (; i < b.bytes.size(); ++i) h = mix(h, b.bytes[i]);
  return h;
}

size_t HashShape::operator()(const model::Shape& s) const {
  uint64_t h = mix(mix(s.fn, s.site), (uint64_t{s.thread} << 1) | s.unfinished);
  for (const model::Arg& a : s.args) {
    h = mix(h, (uint64_t{a.cls} << 32) | (uint64_t{a.param} << 16) |
                   (static_cast<uint64_t>(a.form) << 8) | static_cast<uint64_t>(a.effect));
  }
  return h;
}

model::Site TraceTables::place_in_module(TracedProcess& process, uint64_t address) {
  model::Site site;
  site.module = process.modules.find_code(address);
  site.offset = site.module == model::NoIndex ? address : address - trace.modules[site.module].base;
  return site;
}

model::SiteId TraceTables::site_of(TracedProcess& process, uint64_t address) {
  if (address == 0) return model::NoIndex;
  if (const model::SiteId* known = process.sites.find(address)) return *known;
  const model::SiteId id = sites_(place_in_module(process, address));
  process.sites[address] = id;
  return id;
}

model::SiteId TraceTables::site_of(TracedProcess& process, uint64_t address, std::span<const uint64_t> around) {
  if (address == 0 || around.empty()) return site_of(process, address);
  uint64_t key = mix(address, around.size());
  for (const uint64_t frame : around) key = mix(key, frame);
  if (const model::SiteId* known = process.chained_sites.find(key)) return *known;
  std::vector<model::Site> chain{place_in_module(process, address)};
  for (const uint64_t frame : around) chain.push_back(place_in_module(process, frame));
  const model::SiteId id = chains_(chain);
  if (key != 0) process.chained_sites[key] = id;
  return id;
}

model::ClassId TraceTables::class_of(const TracedThread& thread, model::ObjectKind kind, model::BlobId label) {
  const model::Shape& call = thread.pending.shape;
  return names.class_of({kind, thread.id, call.site, call.fn, label});
}

model::BlobId TraceTables::blob_of(ByteView bytes, uint64_t full_size) {
  return blobs_({Bytes(bytes.begin(), bytes.end()), full_size});
}

model::ShapeId TraceTables::intern_shape(const model::Shape& shape) {
  return shapes_(shape, [this] { trace.stats.emplace_back(); });
}

model::ClassId TraceTables::class_of_data(uint32_t module) {
  if (module >= data_classes_.size()) data_classes_.resize(module + 1, model::NoIndex);
  model::ClassId& known = data_classes_[module];
  if (known == model::NoIndex) {
    const std::string& path = trace.modules[module].path;
    known = names.class_of({model::ObjectKind::Static, model::NoIndex, model::NoIndex, 0,
                             blob_of(as_bytes(path), path.size())});
  }
  return known;
}

}  // namespace gt::tracer
