// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/error_labels.hpp"

#include "tests/support/standin/server_error.hpp"

#include <set>

namespace cdc::test::standin {

namespace {

bool of_change_stream(const command_call& call) {
    if (call.name == "aggregate")
        return bson::find_path(call.body, "pipeline.0.$changeStream").has_value();
    if (call.name != "getMore")
        return false;
    const auto id = bson::find(call.body, call.name);
    const auto c = call.self.cursors.find(id ? id->as_integer().value_or(0) : 0);
    return c && c->waits();
}

const std::set<int>& retriable() {
    static const std::set<int> codes = {code::host_unreachable,
                                        code::host_not_found,
                                        code::network_timeout,
                                        code::shutdown_in_progress,
                                        code::primary_stepped_down,
                                        code::exceeded_time_limit,
                                        code::socket_exception,
                                        code::not_primary,
                                        code::interrupted_at_shutdown,
                                        code::interrupted_by_state_change,
                                        code::not_primary_no_secondary_ok,
                                        code::not_primary_or_secondary};
    return codes;
}

bool resumable(int c) {
    static const std::set<int> more = {code::stale_shard_version, code::stale_epoch,
                                       code::stale_config, code::retry_change_stream,
                                       code::failed_to_satisfy_read_preference};
    return retriable().contains(c) || more.contains(c);
}

} // namespace

std::vector<std::string> error_labels(const command_call& call, int c) {
    if (of_change_stream(call)) {
        if (c == code::change_stream_fatal_error || c == code::change_stream_history_lost)
            return {"NonResumableChangeStreamError"};
        if (resumable(c))
            return {"ResumableChangeStreamError"};
    }
    if (bson::find(call.body, "txnNumber") && retriable().contains(c))
        return {"RetryableWriteError"};
    return {};
}

bool tells_topology_version(int c) {
    return c == code::primary_stepped_down || c == code::not_primary ||
           c == code::interrupted_by_state_change || c == code::not_primary_no_secondary_ok ||
           c == code::not_primary_or_secondary;
}

} // namespace cdc::test::standin
