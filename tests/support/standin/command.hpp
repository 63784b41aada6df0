// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/builder.hpp"
#include "tests/support/standin/server_state.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace cdc::test::standin {

/// One command being executed.
struct command_call {
    server_state& server;
    member_state& self; ///< the member that was asked
    connection_info& connection;
    std::string db;
    std::string name; ///< as the client wrote it
    bson::view body;
    std::string session; ///< the session's id bytes, empty without lsid

    std::optional<bson::cursor> field(std::string_view n) const { return bson::find(body, n); }
    /// Typed fields; throw server_error 14 for another type.
    std::string text(std::string_view n) const;
    std::optional<std::int64_t> number(std::string_view n) const;
    bool flag(std::string_view n, bool otherwise = false) const;
    bson::view document(std::string_view n) const; ///< empty when absent
    bson::view array(std::string_view n) const;    ///< empty when absent
    bool has_user_for(bool (user_table::*right)(const std::string&, const std::string&) const,
                      const std::string& on) const;
};

enum class access {
    open,          ///< before authentication too
    authenticated, ///< any user
    read,          ///< read on the command's database
    write,         ///< write on the command's database
};

/// How a command is run; exactly one of the two functions is set.
struct command_spec {
    access need = access::read;
    void (*run)(command_call& call, bson::builder& reply) = nullptr;
    boost::asio::awaitable<void> (*run_waiting)(command_call* call, bson::builder* reply) = nullptr;
    /// Fields it knows, besides its own name and those that every command may have.
    std::set<std::string_view> fields = {};
    bool retryable = false; ///< a write that is answered once for each (session, txnNumber)
};

/// While it lives, the connection's slot is woken at every change of data, topology and faults.
class waiting_command {
  public:
    explicit waiting_command(command_call& call)
        : call_(call) {
        call_.server.waiting.insert(&call_.connection.wake);
    }
    ~waiting_command() { call_.server.waiting.erase(&call_.connection.wake); }
    waiting_command(const waiting_command&) = delete;
    waiting_command& operator=(const waiting_command&) = delete;

  private:
    command_call& call_;
};

/// All commands, by name.
const std::map<std::string, command_spec>& command_table();

/// Opens a cursor over `c` and writes the `cursor` field of the reply. With batch size 0 nothing is
/// read yet.
void reply_with_cursor(command_call& call, bson::builder& reply, const std::shared_ptr<cursor>& c,
                       std::size_t batch_size, bool single_batch);

/// Time and term of the last entry.
bson::document op_time(const oplog& log);
/// Writes the `topologyVersion` field of a hello or an error.
void append_topology_version(const member_state& self, bson::builder& reply);

/// Commands for the admin database: throws server_error 13 elsewhere or without rights.
void require_admin(const command_call& call);

/// The server's error that a user may not run the command.
[[noreturn]] void throw_unauthorized(const command_call& call);

// The commands, one file a family.
void register_hello(std::map<std::string, command_spec>& table);
void register_auth(std::map<std::string, command_spec>& table);
void register_session(std::map<std::string, command_spec>& table);
void register_catalog(std::map<std::string, command_spec>& table);
void register_query(std::map<std::string, command_spec>& table);
void register_aggregate(std::map<std::string, command_spec>& table);
void register_write(std::map<std::string, command_spec>& table);
void register_fail_point(std::map<std::string, command_spec>& table);
void register_replication(std::map<std::string, command_spec>& table);
void register_own(std::map<std::string, command_spec>& table);
void register_find_and_modify(std::map<std::string, command_spec>& table);

} // namespace cdc::test::standin
