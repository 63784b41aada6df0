// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "tests/support/standin/matcher.hpp"
#include "tests/support/standin/oplog.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cdc::test::standin {

using record_id = std::uint64_t;

/// Documents in the order they were inserted, and the `_id` index over them. Every document has an
/// `_id`, first. Knows nothing of the history.
class collection {
  public:
    collection(std::string db, std::string name)
        : db_(std::move(db))
        , name_(std::move(name)) {}

    const std::string& db() const noexcept { return db_; }
    const std::string& name() const noexcept { return name_; }
    std::string ns() const { return db_ + "." + name_; }
    const uuid& id() const noexcept { return id_; }
    void rename(std::string db, std::string name);

    /// Throws server_error 11000.
    record_id insert(bson::document doc);
    /// The `_id` stays the same.
    void replace(record_id record, bson::document doc);
    void erase(record_id record);

    bson::view get(record_id record) const { return records_.at(record); }
    const bson::document* find_by_id(const bson::cursor& id) const;

    /// Matching records in insertion order, at most `limit`.
    std::vector<record_id> find(const matcher& m, std::size_t limit) const;

    std::size_t size() const noexcept { return records_.size(); }
    std::size_t bytes() const noexcept { return bytes_; }

  private:
    std::string db_;
    std::string name_;
    uuid id_ = random_uuid();
    std::map<record_id, bson::document> records_;
    std::map<std::string, record_id> by_id_; ///< key string of the `_id`
    record_id next_ = 1;
    std::size_t bytes_ = 0;
};

} // namespace cdc::test::standin
