#include "tracer/collect/forms_before.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace gt::tracer {

RingOwner::RingOwner(ByteView bytes) : page_(std::make_unique<Page>()) {
  std::memcpy(page_->bytes, bytes.data(), std::min(bytes.size(), sizeof page_->bytes));
}

void FormsBefore::see(const RecordView& record) {
  ByteReader in(record.payload);
  if (record.header.type == RecordType::BlockForm) {
    const uint64_t slot = in.fixed64();
    in.fixed64();
    const uint64_t before = in.fixed64();
    if (!in.ok() || slot >= BlockFormCount || known_[slot]) return;
    forms_.resize(BlockFormCount);
    known_[slot] = true;
    forms_[slot] = before;
  }
  while (record.header.type == RecordType::Blocks && !base_known_ && in.remaining() >= 8) {
    const uint64_t word = in.fixed64();
    base_known_ = tag_of(word) == BlockTag::Base;
    if (base_known_) base_ = base_before(word);
  }
}

void FormsBefore::end(const RingHeader& header) {
  if (ended()) return;
  forms_.resize(BlockFormCount);
  for (size_t slot = 0; slot < BlockFormCount; ++slot) {
    if (!known_[slot]) forms_[slot] = header.forms[slot];
  }
  if (!base_known_) base_ = header.base;
  owner_ = std::make_unique<RingOwner>(bytes_of(header));
}

void FormsBefore::give(uint32_t ring, const RecordVisitor& visit) const {
  const auto give_words = [&](RecordType type, std::span<const uint64_t> words) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(words.data());
    visit({{0, type, 0, 0}, ByteView(bytes, words.size_bytes()), ring, &owner_->header()});
  };
  for (uint64_t slot = 0; slot < BlockFormCount; ++slot) {
    if (const uint64_t words[] = {slot, forms_[slot], 0}; words[1] != 0) give_words(RecordType::BlockForm, words);
  }
  if (const uint64_t base[] = {base_word(base_, 0)}; base_ != 0) give_words(RecordType::Blocks, base);
}

}  // namespace gt::tracer
