// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace cdc::test::standin {

/// What a server keeps of a password for SCRAM-SHA-256 (RFC 7677).
struct scram_credentials {
    using key = std::array<std::uint8_t, 32>;
    std::string salt;
    int iterations =
        4096; ///< the least that drivers accept, so that tests do not spend their time here
    key stored{};
    key server{};

    /// `password` is ASCII: SASLprep would leave it as it is. Throws std::runtime_error otherwise.
    static scram_credentials of(std::string_view password);
};

/// The server's side of one conversation. `step` throws server_error 18 for anything wrong.
class scram_conversation {
  public:
    /// Finds a user's credentials, nullptr when there is no such user; they outlive the
    /// conversation.
    using lookup = std::function<const scram_credentials*(const std::string& user)>;

    scram_conversation(lookup find, bool skip_empty_exchange)
        : find_(std::move(find))
        , skip_empty_exchange_(skip_empty_exchange) {}

    /// The answer to the client's next message.
    std::string step(std::string_view message);
    bool done() const noexcept { return state_ == state::done; }
    const std::string& user() const noexcept { return user_; }

  private:
    enum class state { first, final, empty, done };

    std::string first(std::string_view message);
    std::string final(std::string_view message);

    lookup find_;
    bool skip_empty_exchange_;
    state state_ = state::first;
    std::string user_;
    std::string nonce_;
    std::string client_first_bare_;
    std::string server_first_;
    const scram_credentials* credentials_ = nullptr;
};

} // namespace cdc::test::standin
