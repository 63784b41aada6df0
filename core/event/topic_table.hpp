// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/event/topic_name.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cdc::event {

/// The topics of one connector, made once for each collection and shared by the encodings of its
/// sinks, so that a topic has one string however many batches name it. Grows by an entry for each
/// collection seen. Lives on the connector's reactor; not thread-safe.
class topic_table {
  public:
    /// Two collections whose records go to one topic, because their names differ only in characters
    /// a topic cannot have.
    struct clash {
        std::string topic;
        std::string first;  ///< `db.collection` that had the topic before
        std::string second; ///< `db.collection` that came later
    };

    explicit topic_table(naming names)
        : names_(std::move(names)) {}
    explicit topic_table(std::string prefix)
        : topic_table(naming{std::move(prefix)}) {}

    const naming& names() const noexcept { return names_; }

    std::shared_ptr<const std::string> topic(std::string_view db, std::string_view collection);

    /// The topic `<prefix>.<suffix>` of control records.
    std::shared_ptr<const std::string> control_topic(std::string_view suffix);

    /// Clashes found since the last call; each collection is reported once. The caller warns.
    std::vector<clash> take_clashes();

  private:
    struct entry {
        std::shared_ptr<const std::string> topic;
        std::string db;
        std::string collection;
    };

    naming names_;
    std::map<std::string, std::vector<entry>, std::less<>> by_topic_;
    std::map<std::string, std::shared_ptr<const std::string>, std::less<>> control_topics_;
    std::vector<clash> clashes_;
};

} // namespace cdc::event
