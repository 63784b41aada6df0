// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/offset/store.hpp"

#include <map>
#include <mutex>

namespace cdc::offset {

/// Keeps positions as long as the process lives. Thread-safe.
class memory_store final : public store {
  public:
    error::result<std::vector<entry>> load(const std::string& connector) override;
    error::result<void> save(const std::vector<entry>& entries) override;
    error::result<std::vector<entry>> list() override;
    error::result<std::optional<std::string>> load_identity(const std::string& connector) override;
    error::result<void> save_identity(const std::string& connector,
                                      const std::string& identity) override;

  private:
    std::mutex mutex_;
    std::map<key, entry> entries_;
    std::map<std::string, std::string> identities_;
};

} // namespace cdc::offset
