// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/streaming/gap_batch.hpp"

namespace cdc::mongodb::streaming {

gap_batch::gap_batch(const event::position& from, event::position to,
                     const std::optional<oplog_history::window>& oplog)
    : end_(std::move(to)) {
    const auto edge = [&oplog](bson::timestamp oplog_history::window::* which) {
        return oplog ? std::optional<std::string>(to_second(*oplog.*which)) : std::nullopt;
    };
    record_.topic_suffix = "gap";
    record_.key = "gap";
    record_.type = "gap";
    record_.more = {{"from_time", to_second(from.cluster_time())},
                    {"from_token", std::string(from.data())},
                    {"to_time", to_second(end_->cluster_time())},
                    {"to_token", std::string(end_->data())},
                    {"oldest_time", edge(&oplog_history::window::oldest)},
                    {"newest_time", edge(&oplog_history::window::newest)}};
    event::change_event e;
    e.op = event::operation::control;
    e.operation_type = "gap";
    e.cluster_time = end_->cluster_time();
    e.resume_token = end_->token();
    e.control = &record_;
    events_.push_back(e);
    bytes_ = sizeof(*this) + from.token().size() + end_->token().size();
}

} // namespace cdc::mongodb::streaming
