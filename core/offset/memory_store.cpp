// SPDX-License-Identifier: Apache-2.0
#include "core/offset/memory_store.hpp"

namespace cdc::offset {

error::result<std::vector<entry>> memory_store::load(const std::string& connector) {
    const std::lock_guard lock(mutex_);
    std::vector<entry> out;
    for (const auto& [key, value] : entries_)
        if (key.connector == connector)
            out.push_back(value);
    return out;
}

error::result<void> memory_store::save(const std::vector<entry>& entries) {
    const std::lock_guard lock(mutex_);
    for (const auto& e : entries)
        entries_[e.key] = e;
    return {};
}

error::result<std::vector<entry>> memory_store::list() {
    const std::lock_guard lock(mutex_);
    std::vector<entry> out;
    for (const auto& [key, value] : entries_)
        out.push_back(value);
    return out;
}

error::result<std::optional<std::string>>
memory_store::load_identity(const std::string& connector) {
    const std::lock_guard lock(mutex_);
    const auto found = identities_.find(connector);
    if (found == identities_.end())
        return std::optional<std::string>{};
    return std::optional<std::string>{found->second};
}

error::result<void> memory_store::save_identity(const std::string& connector,
                                                const std::string& identity) {
    const std::lock_guard lock(mutex_);
    identities_[connector] = identity;
    return {};
}

} // namespace cdc::offset
