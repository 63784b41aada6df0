// SPDX-License-Identifier: Apache-2.0
#include "core/event/record.hpp"

#include <cassert>

namespace cdc::event {

record record_batch::operator[](std::size_t i) const noexcept {
    const slot& s = slots_[i];
    const std::string_view all{bytes_};
    record out;
    out.topic = *topics_[s.topic];
    out.key = all.substr(s.key_begin, s.key_end - s.key_begin);
    if (!s.tombstone)
        out.value = all.substr(s.key_end, s.value_end - s.key_end);
    out.op = s.op;
    out.sequence = first_sequence_ + i;
    out.token = all.substr(s.token_begin, s.token_size);
    out.index = s.index;
    return out;
}

std::size_t record_batch::bytes() const noexcept {
    return sizeof *this + bytes_.capacity() + slots_.capacity() * sizeof(slot);
}

record_batch_builder::record_batch_builder(std::uint64_t first_sequence)
    : batch_(std::make_shared<record_batch>()) {
    batch_->first_sequence_ = first_sequence;
}

void record_batch_builder::begin_event(std::string_view token) {
    event_begin_bytes_ = batch_->bytes_.size();
    event_begin_slots_ = batch_->slots_.size();
    token_begin_ = static_cast<std::uint32_t>(batch_->bytes_.size());
    token_size_ = static_cast<std::uint32_t>(token.size());
    batch_->bytes_.append(token);
    index_ = 0;
}

void record_batch_builder::begin_record(std::shared_ptr<const std::string> topic, operation op) {
    // Topics of a batch are few and come in runs, so the newest is tried first.
    auto& topics = batch_->topics_;
    std::size_t at = topics.size();
    while (at > 0 && topics[at - 1] != topic)
        --at;
    if (at == 0) {
        topics.push_back(std::move(topic));
        at = topics.size();
    }
    open_ = {};
    open_.topic = static_cast<std::uint32_t>(at - 1);
    open_.op = op;
    open_.token_begin = token_begin_;
    open_.token_size = token_size_;
    open_.index = index_++;
    open_.key_begin = static_cast<std::uint32_t>(batch_->bytes_.size());
}

void record_batch_builder::begin_value() {
    open_.key_end = static_cast<std::uint32_t>(batch_->bytes_.size());
}

void record_batch_builder::end_record(bool tombstone) {
    open_.value_end = static_cast<std::uint32_t>(batch_->bytes_.size());
    open_.tombstone = tombstone;
    batch_->slots_.push_back(open_);
}

void record_batch_builder::discard_event() {
    batch_->bytes_.resize(event_begin_bytes_);
    batch_->slots_.resize(event_begin_slots_);
}

std::shared_ptr<const record_batch> record_batch_builder::finish() {
    return std::move(batch_);
}

} // namespace cdc::event
