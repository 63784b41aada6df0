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
        {code::transaction_too_old, "TransactionTooOld"},
        {code::cursor_killed, "CursorKilled"},
        {code::invalid_resume_token, "InvalidResumeToken"},
        {code::change_stream_fatal_error, "ChangeStreamFatalError"},
        {code::change_stream_history_lost, "ChangeStreamHistoryLost"},
        {code::cursor_in_use, "CursorInUse"},
        {code::object_too_large, "BSONObjectTooLarge"},
        {code::duplicate_key, "DuplicateKey"},
    };
    const auto at = names.find(c);
    return at != names.end() ? std::string(at->second) : "Location" + std::to_string(c);
}

} // namespace cdc::test::standin
