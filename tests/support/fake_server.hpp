// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "tests/support/wire/wire_server.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace cdc::test {

/// A server for driver tests: one member of a set that knows hello, ping, aggregate, getMore and
/// endSessions, and answers them with prepared bytes. It has no data and checks nothing.
class fake_server {
  public:
    struct options {
        std::string set_name = "rs0";
        bool primary = true;
        std::size_t events_per_batch = 100;
        std::size_t event_bytes = 400;
        /// Each getMore is answered this much later.
        std::chrono::milliseconds latency{0};
        wire::tls_options tls;
    };

    explicit fake_server(options o);

    std::uint16_t port() const noexcept { return server_->port(); }
    std::string host_port() const { return server_->host_port(); }

    /// What hello answers as members of the set; by default this server alone. Any thread.
    void set_hosts(std::vector<std::string> hosts);
    /// What hello answers about this member from now on. Any thread.
    void primary(bool on) { primary_ = on; }
    /// From now on requests are taken and never answered (or answered again). Any thread.
    void silent(bool on) { silent_ = on; }
    /// Replaces the answer to one command: nothing from the hook means the usual answer. Any
    /// thread; runs on the server's thread.
    void on_command(std::function<std::optional<bson::document>(const wire::request&)> hook);

    std::size_t hellos() const noexcept { return hellos_; }
    std::size_t legacy_hellos() const noexcept { return legacy_hellos_; }
    std::size_t get_mores() const noexcept { return get_mores_; }
    std::size_t end_sessions() const noexcept { return end_sessions_; }
    wire::server& server() noexcept { return *server_; }

  private:
    class session;
    bson::document hello() const;

    options options_;
    bson::document batch_;
    mutable std::mutex mutex_;
    std::vector<std::string> hosts_;
    std::function<std::optional<bson::document>(const wire::request&)> hook_;
    std::atomic<bool> primary_;
    std::atomic<bool> silent_{false};
    std::atomic<std::size_t> hellos_{0}, legacy_hellos_{0}, get_mores_{0}, end_sessions_{0};
    std::unique_ptr<wire::server> server_; // last: its thread uses the rest
};

} // namespace cdc::test
