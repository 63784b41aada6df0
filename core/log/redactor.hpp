// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cdc::log {

/// Takes secrets out of texts: each is replaced by ***. Finds a secret as it is, percent-encoded in
/// part or in whole, and escaped as in JSON. Whatever was registered, the user information of every
/// mongodb:// or mongodb+srv:// URI is hidden too. Thread-safe.
class redactor {
  public:
    /// Shorter secrets are not looked for: they would blacken ordinary text and are found by
    /// guessing anyway.
    static constexpr std::size_t shortest = 4;

    /// Hides a secret from now on. Of a connection string: its password (as written and decoded)
    /// and the values of its options that are secrets, but not its hosts.
    void hide(std::string_view secret);

    std::string clean(std::string_view text) const;

  private:
    void add(std::string secret);

    mutable std::shared_mutex mutex_;
    std::vector<std::string> secrets_; ///< longest first, so that one within another leaves no rest
};

} // namespace cdc::log
