// SPDX-License-Identifier: Apache-2.0
#include "core/event/topic_table.hpp"

#include <utility>

namespace cdc::event {

std::shared_ptr<const std::string> topic_table::topic(std::string_view db,
                                                      std::string_view collection) {
    std::string name = topic_name(names_, db, collection);
    auto& entries = by_topic_[name];
    for (const entry& e : entries)
        if (e.db == db && e.collection == collection)
            return e.topic;
    entry added{entries.empty() ? std::make_shared<const std::string>(name) : entries.front().topic,
                std::string{db}, std::string{collection}};
    if (!entries.empty())
        clashes_.push_back({std::move(name), entries.front().db + "." + entries.front().collection,
                            added.db + "." + added.collection});
    entries.push_back(std::move(added));
    return entries.back().topic;
}

std::shared_ptr<const std::string> topic_table::control_topic(std::string_view suffix) {
    auto& topic = control_topics_[control_topic_name(names_, suffix)];
    if (!topic)
        topic = std::make_shared<const std::string>(control_topic_name(names_, suffix));
    return topic;
}

std::vector<topic_table::clash> topic_table::take_clashes() {
    return std::exchange(clashes_, {});
}

} // namespace cdc::event
