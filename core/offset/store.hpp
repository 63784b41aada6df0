// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cdc::offset {

/// What a stored position belongs to. `partition` is the replica set's part of a connector: today
/// always one, "server"; a shard's name later.
struct key {
    std::string connector;
    std::string sink;
    std::string partition;
    auto operator<=>(const key&) const = default;
};

struct entry {
    offset::key key;
    std::string position; ///< JSON, written and read by the source; the store does not look inside
    std::int64_t updated_ms = 0; ///< wall clock
};

/// Where positions live. Calls block and run on the blocking pool; one call at a time per store
/// (implementations lock). All errors leave what was stored before untouched.
class store {
  public:
    virtual ~store() = default;
    virtual error::result<std::vector<entry>> load(const std::string& connector) = 0;
    /// Stores all entries or none; durable when it returns.
    virtual error::result<void> save(const std::vector<entry>& entries) = 0;
    virtual error::result<std::vector<entry>> list() = 0;
    /// What must stay the same while positions are kept (set name, topic.prefix …), as JSON text;
    /// nothing when never saved. The caller compares.
    virtual error::result<std::optional<std::string>>
    load_identity(const std::string& connector) = 0;
    virtual error::result<void> save_identity(const std::string& connector,
                                              const std::string& identity) = 0;
};

} // namespace cdc::offset
