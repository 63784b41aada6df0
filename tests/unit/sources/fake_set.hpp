// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/wake_slot.hpp"
#include "sources/mongodb/cursor/command_runner.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cdc::test {

/// A replica set in a few lines, behind command_runner: a list of change documents, cursors over
/// it, and faults on demand. It shows what the recordings of a real 4.4.0 show of tokens, of empty
/// batches and of a position that has left the oplog. One event a second of its clock.
class fake_set {
  public:
    explicit fake_set(boost::asio::any_io_executor reactor)
        : change_(std::move(reactor)) {}

    /// An event of shop.orders (or another namespace); gives its cluster time's seconds.
    std::uint32_t add(std::int32_t id, std::string type = "insert", std::string db = "shop",
                      std::string collection = "orders");
    /// Any document; needs an `_id` made by `event_token`.
    void add_raw(std::uint32_t second, bson::document change);
    /// Time goes on by writes that the stream does not see; a waiting getMore answers empty.
    void write_elsewhere(std::uint32_t seconds = 1);
    /// A waiting getMore answers empty, nothing has moved.
    void idle();
    bool waiting = false; ///< a getMore is
    /// Entries before `second` leave the oplog.
    void truncate_before(std::uint32_t second) { oldest_ = second; }

    static bson::document event_token(std::uint32_t second, bool invalidate = false);
    static bson::document high_water_token(std::uint32_t second, std::uint32_t ordinal = 2);

    struct fault {
        std::string command; ///< "connect" or a command's name
        unsigned after = 0;  ///< of that command so many go well first
        unsigned times = 1;
        error::diagnostics error;
        bool hang = false; ///< never answers, until it is cancelled
    };
    std::deque<fault> faults;

    bool gives_tokens = true;    ///< postBatchResumeToken, since 4.0.7
    bool readable_oplog = true;  ///< by the user
    bool has_start_after = true; ///< since 4.2
    bool new_set = false;        ///< the oplog begins with the set's first entry
    std::string set_name = "rs0";
    std::string server_type = "RSPrimary";

    /// Who is primary from now on; empty: nobody. Tells those who wait for that.
    void elect(std::string host);
    bool knows_topology = true;    ///< awaitable hello, since 4.4
    std::size_t hello_waiting = 0; ///< hellos that wait for news
    std::vector<std::string> killed_sessions;
    /// "aggregate db1:27017", "getMore db2:27017": what was sent where.
    std::vector<std::string> sent;
    std::size_t sent_to(std::string_view command, std::string_view host) const;

    /// Names of what was called, in order: "connect", "buildInfo", "aggregate", …
    std::vector<std::string> calls;
    /// The `$changeStream` stages of the aggregates, in order.
    std::vector<bson::document> opened;
    std::size_t count(std::string_view call) const;
    std::size_t open_cursors() const { return cursors_.size(); }

  private:
    friend class fake_runner;
    struct entry {
        std::uint32_t second;
        bson::document change;
    };
    struct cursor_state {
        std::uint32_t behind = 0;     ///< events up to and including this second were given
        std::uint32_t from_event = 0; ///< token of an event that must be found first
        std::uint32_t must_reach = 0; ///< a time that must be in the oplog at the first read
        bool at_event = false;        ///< `behind` is an event's, not only a time
        bool read = false;
        std::string event; ///< `_data` of the token of the event at `behind`
        std::string last;  ///< `_data` of the token given last
        std::int32_t session = 0;
    };

    error::result<bson::document> aggregate(bson::view command);
    error::result<bson::document> get_more(bson::view command, bool& wait);
    bson::document reply(std::int64_t id, const char* batch_name,
                         const std::vector<const entry*>& batch, bson::view token);

    std::string primary_ = "db1:27017";
    std::int64_t topology_ = 1;
    std::int32_t sessions_ = 0;
    std::set<runtime::wake_slot*> hellos_;
    runtime::wake_slot change_;
    std::vector<entry> oplog_;
    std::map<std::int64_t, cursor_state> cursors_;
    std::int64_t next_cursor_ = 100;
    std::uint32_t now_ = 1000;
    std::uint32_t oldest_ = 0;
};

/// One connection to it.
class fake_runner final : public mongodb::cursor::command_runner {
  public:
    fake_runner(boost::asio::any_io_executor reactor, fake_set& set)
        : cancel_(std::move(reactor))
        , set_(set) {}

    boost::asio::awaitable<error::result<mongodb::client::server_description>> connect() override;
    boost::asio::awaitable<error::result<bson::document>> command(std::string db,
                                                                  bson::document command) override;
    void interrupt() noexcept override;
    void cancel() noexcept override;
    boost::asio::awaitable<void> stop() override;

  private:
    boost::asio::awaitable<std::optional<error::diagnostics>> enter(std::string name);
    boost::asio::awaitable<error::result<bson::document>> hello(bson::document command);
    bson::document describe() const;

    runtime::wake_slot cancel_;
    fake_set& set_;
    error::diagnostics given_up() const;
    bool given_up_now() const noexcept { return cancelled_ || interrupted_; }
    bool cancelled_ = false;
    bool interrupted_ = false;
    bool connected_ = false;
    bool busy_ = false;
    bool stopped_ = false;
    std::string member_;
    std::int32_t session_ = 0;
};

} // namespace cdc::test
