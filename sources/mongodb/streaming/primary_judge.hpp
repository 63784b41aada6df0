// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "sources/mongodb/client/client.hpp"
#include "sources/mongodb/cursor/change_pipeline.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace cdc::mongodb::streaming {

/// Decides without I/O, from what servers say of themselves, whether the member that is read from
/// is still the primary of its set, and how to ask next. Used from one reactor.
///
/// A server that sends a topologyVersion (4.4 and later) is asked with it and answers when it has a
/// newer one, at the latest after `interval`; others are asked every `interval`. (Drivers' server
/// monitoring protocol; a real server does not interrupt a waiting getMore on a step-down.)
class primary_judge {
  public:
    explicit primary_judge(std::chrono::milliseconds interval)
        : interval_(interval) {}

    /// `server` is read from, from now on.
    void read_from(const client::server_description& server);

    /// Nothing: still the primary. Else why the reader must go elsewhere, in words that follow the
    /// member's name ("is no longer the primary, …").
    using verdict = std::optional<std::string>;

    /// A look for the set's primary, on a connection of its own, found `server`.
    verdict on_found(const client::server_description& server);

    /// That server's reply to `next_question`.
    verdict on_reply(bson::view hello);

    /// hello, or isMaster for servers that do not know it.
    cursor::database_command next_question() const;

    /// How long to wait before the next question, when the last one was asked `ago`. Never lets
    /// questions follow each other without a pause, whatever the server does.
    std::chrono::milliseconds rest(std::chrono::milliseconds ago) const;

  private:
    static constexpr std::chrono::milliseconds least_{100};
    static constexpr std::int32_t first_wire_version_with_hello_ = 13; // MongoDB 5.0

    void take_version(bson::view hello);

    std::chrono::milliseconds interval_;
    std::string host_;
    std::string set_name_;
    bool knows_hello_ = false;
    std::optional<bson::document> version_; ///< topologyVersion of the last reply
    bool news_ = false;                     ///< the last reply had another one than asked with
};

} // namespace cdc::mongodb::streaming
