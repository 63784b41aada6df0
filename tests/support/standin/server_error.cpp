// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/server_error.hpp"

#include <map>

namespace cdc::test::standin {

std::string code_name(int c) {
    static const std::map<int, std::string_view> names = {
        {code::internal_error, "InternalError"},
        {code::bad_value, "BadValue"},
        {code::failed_to_parse, "FailedToParse"},
        {code::unauthorized, "Unauthorized"},
        {code::type_mismatch, "TypeMismatch"},
        {code::overflow, "Overflow"},
        {code::invalid_length, "InvalidLength"},
        {code::authentication_failed, "AuthenticationFailed"},
        {code::illegal_operation, "IllegalOperation"},
        {code::namespace_not_found, "NamespaceNotFound"},
        {code::path_not_viable, "PathNotViable"},
        {code::conflicting_update_operators, "ConflictingUpdateOperators"},
        {code::cursor_not_found, "CursorNotFound"},
        {code::namespace_exists, "NamespaceExists"},
        {code::dollar_prefixed_field_name, "DollarPrefixedFieldName"},
        {code::command_not_found, "CommandNotFound"},
        {code::immutable_field, "ImmutableField"},
        {code::invalid_options, "InvalidOptions"},
        {code::invalid_namespace, "InvalidNamespace"},
        {code::no_replication_enabled, "NoReplicationEnabled"},
        {code::capped_position_lost, "CappedPositionLost"},
        {code::command_not_supported_on_view, "CommandNotSupportedOnView"},
        {code::transaction_too_old, "TransactionTooOld"},
        {code::cursor_killed, "CursorKilled"},
        {code::invalid_resume_token, "InvalidResumeToken"},
        {code::change_stream_fatal_error, "ChangeStreamFatalError"},
        {code::change_stream_history_lost, "ChangeStreamHistoryLost"},
        {code::cursor_in_use, "CursorInUse"},
        {code::host_unreachable, "HostUnreachable"},
        {code::host_not_found, "HostNotFound"},
        {code::max_time_expired, "MaxTimeMSExpired"},
        {code::stale_shard_version, "StaleShardVersion"},
        {code::network_timeout, "NetworkTimeout"},
        {code::shutdown_in_progress, "ShutdownInProgress"},
        {code::command_failed, "CommandFailed"},
        {code::failed_to_satisfy_read_preference, "FailedToSatisfyReadPreference"},
        {code::stale_epoch, "StaleEpoch"},
        {code::primary_stepped_down, "PrimarySteppedDown"},
        {code::close_change_stream, "CloseChangeStream"},
        {code::retry_change_stream, "RetryChangeStream"},
        {code::exceeded_time_limit, "ExceededTimeLimit"},
        {code::socket_exception, "SocketException"},
        {code::not_primary, "NotWritablePrimary"},
        {code::interrupted_at_shutdown, "InterruptedAtShutdown"},
        {code::interrupted, "Interrupted"},
        {code::interrupted_by_state_change, "InterruptedDueToReplStateChange"},
        {code::stale_config, "StaleConfig"},
        {code::not_primary_no_secondary_ok, "NotPrimaryNoSecondaryOk"},
        {code::not_primary_or_secondary, "NotPrimaryOrSecondary"},
        {code::object_too_large, "BSONObjectTooLarge"},
        {code::duplicate_key, "DuplicateKey"},
    };
    const auto at = names.find(c);
    return at != names.end() ? std::string(at->second) : "Location" + std::to_string(c);
}

} // namespace cdc::test::standin
