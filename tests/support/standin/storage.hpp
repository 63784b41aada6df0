// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/standin/collection.hpp"
#include "tests/support/standin/oplog.hpp"
#include "tests/support/standin/update.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>

namespace cdc::test::standin {

/// All databases and their history: every change goes through here and leaves its oplog entry.
class storage {
  public:
    explicit storage(std::size_t oplog_limit)
        : oplog_(oplog_limit) {}

    standin::oplog& history() noexcept { return oplog_; }
    const standin::oplog& history() const noexcept { return oplog_; }

    collection* find(const std::string& db, const std::string& name) noexcept;
    const collection* find(const std::string& db, const std::string& name) const noexcept;
    /// Makes it (with a create entry) when there is none. Throws server_error 73 for bad names.
    collection& require(const std::string& db, const std::string& name, bson::view options = {});
    /// An index is built: leaves the entries of that, and nothing else.
    void build_index(const collection& c, bson::view index);
    /// Appends an event of any kind: `change` without `_id` and `clusterTime`.
    void append_change(const std::string& db, const std::string& coll, bson::view change);

    using database = std::map<std::string, std::unique_ptr<collection>>;
    const std::map<std::string, database>& databases() const noexcept { return databases_; }

    /// Insert events carry so many bytes more than the document has, made when they are sent: for
    /// histories that no memory holds.
    std::size_t event_padding = 0;

    /// Gives the document an `_id` when it has none and moves it to the front. Throws server_error.
    void insert(collection& c, bson::view doc);
    /// Tells whether anything changed.
    bool apply(collection& c, record_id record, const update& u);
    void remove(collection& c, record_id record);
    void drop(collection& c);
    void rename(collection& c, const std::string& to_db, const std::string& to_name,
                bool drop_target);
    void drop_database(const std::string& name);

  private:
    std::map<std::string, database> databases_;
    standin::oplog oplog_;
};

/// The document as it will be stored, `_id` first. Throws server_error.
bson::document with_id_first(bson::view doc);

} // namespace cdc::test::standin
