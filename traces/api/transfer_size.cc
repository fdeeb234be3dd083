// Arithmetic over the arguments that the attributes point at.
#include "traces/api/transfer_size.h"

#include <cstring>

#include "traces/api/image_bytes.h"

namespace gt::api {
namespace {

// Sums and products that do not fit say nothing: 0.
uint64_t product(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? 0 : out;
}
uint64_t sum(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? 0 : out;
}

const DecodedArg* first_object(Inputs args, int param) {
  const Inputs found = elements_of(args, param);
  const bool object = !found.empty() && (found[0].tag == Tag::Handle || found[0].tag == Tag::HostPointer);
  return object ? found.data() : nullptr;
}

// Bytes in a row of the region: its width in bytes, or in elements of an image.
uint64_t element_bytes(const Attributes& a, Inputs inputs, const KnownObjects& known) {
  if (a.image < 0) return 1;
  const DecodedArg* image = first_object(inputs, a.image);
  return image ? known.memory_object(image->value).element_bytes : 0;
}

uint64_t region_bytes(const Attributes& a, Inputs inputs, const KnownObjects& known) {
  const Inputs region = elements_of(inputs, a.region);
  if (region.size() != 3) return 0;
  uint64_t bytes = element_bytes(a, inputs, known);
  for (const DecodedArg& side : region) bytes = product(bytes, side.value);
  return bytes;
}

uint64_t whole_bytes(const DecodedArg& arg, const KnownObjects& known) {
  if (arg.tag == Tag::Handle) return known.memory_object(arg.value).bytes;
  return arg.tag == Tag::HostPointer ? known.allocation(arg.value).bytes : 0;
}

// Each object moves as much as `size` says of it, and whole where that says nothing or 0.
uint64_t listed_bytes(const Attributes& a, Inputs inputs, const KnownObjects& known) {
  const Inputs objects = elements_of(inputs, a.whole), sizes = elements_of(inputs, a.size);
  uint64_t bytes = 0;
  for (size_t i = 0; i < objects.size(); ++i) {
    const uint64_t given = i < sizes.size() && sizes[i].tag == Tag::Int ? sizes[i].value : 0;
    bytes = sum(bytes, given ? given : whole_bytes(objects[i], known));
  }
  return bytes;
}

// The pointer that an unmap call gives back.
const DecodedArg* unmapped(Inputs inputs) {
  for (const DecodedArg& arg : inputs)
    if (arg.tag == Tag::HostPointer) return &arg;
  return nullptr;
}

bool on_host(const DecodedArg& arg, const KnownObjects& known) {
  const MemoryFacts memory = known.allocation(arg.value);
  return memory.bytes == 0 || memory.on_host;
}

// Of two pointers, the one that is written is the destination.
Transfer between_pointers(Inputs inputs, const KnownObjects& known) {
  bool to_host = false, from_host = false;
  for (const DecodedArg& arg : inputs) {
    if (arg.tag != Tag::HostPointer) continue;
    (arg.effect == Effect::Use ? from_host : to_host) = on_host(arg, known);
  }
  if (to_host == from_host) return Transfer::DeviceToDevice;
  return to_host ? Transfer::DeviceToHost : Transfer::HostToDevice;
}

constexpr uint64_t ReadsOld = CL_MAP_READ | CL_MAP_WRITE;  // a map for writing also shows what was there
constexpr uint64_t Writes = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

Transfer direction_of(const Attributes& a, Inputs inputs, const KnownObjects& known) {
  const uint64_t flags = number_of(inputs, a.flags);
  switch (a.direction) {
    case DirectionRule::Fixed:
      return a.transfer;
    case DirectionRule::Map:
      return flags & ReadsOld ? Transfer::DeviceToHost : Transfer::None;
    case DirectionRule::Unmap: {
      const DecodedArg* pointer = unmapped(inputs);
      return pointer && known.mapping(pointer->value).flags & Writes ? Transfer::HostToDevice : Transfer::None;
    }
    case DirectionRule::Migrate:
      if (flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED) return Transfer::None;
      return flags & CL_MIGRATE_MEM_OBJECT_HOST ? Transfer::DeviceToHost : Transfer::HostToDevice;
    case DirectionRule::Create:
      return flags & CL_MEM_COPY_HOST_PTR ? Transfer::HostToDevice : Transfer::None;
    case DirectionRule::Pointers:
      return between_pointers(inputs, known);
  }
  return Transfer::None;
}

uint64_t bytes_of(const Attributes& a, uint16_t fn, Inputs inputs, const KnownObjects& known) {
  if (a.direction == DirectionRule::Create) return created_memory(fn, inputs).facts.bytes;
  if (a.direction == DirectionRule::Unmap) {
    const DecodedArg* pointer = unmapped(inputs);
    return pointer ? known.mapping(pointer->value).bytes : 0;
  }
  if (a.whole >= 0) return listed_bytes(a, inputs, known);
  if (a.region >= 0) return region_bytes(a, inputs, known);
  return number_of(inputs, a.size);
}

cl_image_format format_of(Inputs inputs, int param) {
  const Inputs words = elements_of(inputs, param);
  if (words.size() != 2) return {0, 0};
  return {static_cast<cl_channel_order>(words[0].value), static_cast<cl_channel_type>(words[1].value)};
}

// A cl_image_desc, as encode.h lays it out. Sides that an image type does not have count as 1.
uint64_t elements_of_image(Inputs d) {
  enum { Type, Width, Height, Depth, Layers };
  const uint64_t width = d[Width].value, height = d[Height].value, layers = d[Layers].value;
  switch (d[Type].value) {
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      return product(width, layers);
    case CL_MEM_OBJECT_IMAGE2D:
      return product(width, height);
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      return product(product(width, height), layers);
    case CL_MEM_OBJECT_IMAGE3D:
      return product(product(width, height), d[Depth].value);
    default:
      return width;
  }
}

MemoryFacts created_image(const Attributes& a, uint16_t fn, Inputs inputs) {
  constexpr size_t DescWords = 10;
  MemoryFacts out;
  out.element_bytes = element_size(format_of(inputs, a.format));
  const Inputs desc = elements_of(inputs, a.format + 1);
  if (desc.size() == DescWords) {
    out.bytes = product(out.element_bytes, elements_of_image(desc));
    out.lines = desc[0].value == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  } else {  // clCreateImage2D and 3D: the sides are parameters
    out.bytes = out.element_bytes;
    for (int side = a.format + 1; side < a.format + 4; ++side) {
      if (std::strstr(param_name(fn, static_cast<uint16_t>(side)), "pitch")) break;
      out.bytes = product(out.bytes, number_of(inputs, side));
    }
  }
  return out;
}

}  // namespace

Inputs elements_of(Inputs args, int param) {
  size_t begin = 0;
  while (begin < args.size() && args[begin].param != param) ++begin;
  size_t end = begin;
  while (end < args.size() && args[end].param == param) ++end;
  const Inputs found = args.subspan(begin, end - begin);
  const bool none = found.size() == 1 && (found[0].tag == Tag::Null || found[0].tag == Tag::Empty);
  return none ? Inputs{} : found;
}

uint64_t number_of(Inputs args, int param) {
  const Inputs found = elements_of(args, param);
  return found.empty() || found[0].tag != Tag::Int ? 0 : found[0].value;
}

CreatedMemory created_memory(uint16_t fn, Inputs inputs) {
  const Attributes& a = attributes(fn);
  CreatedMemory out;
  if (number_of(inputs, a.flags) & CL_MEM_USE_HOST_PTR) {
    for (const DecodedArg& arg : inputs)
      if (arg.tag == Tag::HostPointer) out.in_place = arg.value;
  }
  if (a.format >= 0) {
    out.facts = created_image(a, fn, inputs);
    const Inputs desc = elements_of(inputs, a.format + 1);  // its last word is the memory object under the image
    if (!desc.empty() && desc.back().tag == Tag::Handle) out.parent = desc.back().value;
    return out;
  }
  const Inputs part = elements_of(inputs, a.part);
  out.facts.bytes = part.size() == 2 ? part[1].value : number_of(inputs, a.size);
  if (a.part >= 0 && !inputs.empty() && inputs[0].tag == Tag::Handle) out.parent = inputs[0].value;
  return out;
}

TransferSize transfer_size_of(uint16_t fn, Inputs inputs, const KnownObjects& known) {
  const Attributes& a = attributes(fn);
  if (a.transfer == Transfer::None) return {};
  const Transfer direction = direction_of(a, inputs, known);
  if (direction == Transfer::None) return {};
  return {direction, bytes_of(a, fn, inputs, known)};
}

NewMapping new_mapping(uint16_t fn, Inputs inputs, Inputs outputs, const KnownObjects& known) {
  const Attributes& a = attributes(fn);
  NewMapping out;
  if (a.direction != DirectionRule::Map) return out;
  out.mapped = {bytes_of(a, fn, inputs, known), number_of(inputs, a.flags)};
  out.extent = out.mapped.bytes;
  const Inputs region = elements_of(inputs, a.region);
  if (a.pitches >= 0 && region.size() == 3) {
    const uint64_t width = product(region[0].value, element_bytes(a, inputs, known));
    const DecodedArg* image = first_object(inputs, a.image);
    const bool lines = image && known.memory_object(image->value).lines;
    out.extent = box_bytes(width, lines ? 1 : region[1].value, lines ? region[1].value : region[2].value,
                           number_of(outputs, a.pitches), number_of(outputs, a.pitches + 1));
  }
  return out;
}

}  // namespace gt::api
