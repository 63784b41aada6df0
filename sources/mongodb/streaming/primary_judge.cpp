// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/streaming/primary_judge.hpp"

#include "core/bson/builder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cdc::mongodb::streaming {

namespace {

std::string text_of(bson::view reply, std::string_view name) {
    const auto v = bson::find(reply, name);
    return v && v->kind() == bson::type::string ? std::string(v->as_string()) : std::string();
}

bool true_in(bson::view reply, std::string_view name) {
    const auto v = bson::find(reply, name);
    return v && v->truthy();
}

bool same(bson::view a, bson::view b) {
    return std::ranges::equal(a.bytes(), b.bytes());
}

} // namespace

void primary_judge::read_from(const client::server_description& server) {
    host_ = server.host;
    set_name_ = server.set_name;
}

primary_judge::verdict primary_judge::on_found(const client::server_description& server) {
    knows_hello_ = server.max_wire_version >= first_wire_version_with_hello_;
    version_.reset();
    take_version(server.hello);
    if (server.host != host_)
        return fmt::format("is no longer the primary, {} is", server.host);
    if (server.set_name != set_name_)
        return fmt::format("is a member of replica set {} now", server.set_name);
    return std::nullopt;
}

primary_judge::verdict primary_judge::on_reply(bson::view hello) {
    take_version(hello);
    const auto set_name = text_of(hello, "setName");
    if (set_name != set_name_)
        return set_name.empty() ? std::string("is no member of a replica set any more")
                                : fmt::format("is a member of replica set {} now", set_name);
    if (true_in(hello, "isWritablePrimary") || true_in(hello, "ismaster"))
        return std::nullopt;
    const auto primary = text_of(hello, "primary");
    if (primary.empty() || primary == host_)
        return std::string("is no longer the primary");
    return fmt::format("is no longer the primary, {} is", primary);
}

void primary_judge::take_version(bson::view hello) {
    const auto v = bson::find(hello, "topologyVersion");
    if (!v || v->kind() != bson::type::document) {
        version_.reset();
        news_ = false;
        return;
    }
    news_ = !version_ || !same(*version_, v->as_document());
    version_ = bson::document::copy_of(v->as_document());
}

cursor::database_command primary_judge::next_question() const {
    bson::builder b;
    b.int32(knows_hello_ ? "hello" : "isMaster", 1);
    if (version_)
        b.document("topologyVersion", *version_).int64("maxAwaitTimeMS", interval_.count());
    return {"admin", b.finish()};
}

std::chrono::milliseconds primary_judge::rest(std::chrono::milliseconds ago) const {
    // A server that answers early without news does not wait; it is asked like an old one.
    const auto apart = news_ ? std::min(least_, interval_) : interval_;
    return std::max(apart - ago, std::chrono::milliseconds(0));
}

} // namespace cdc::mongodb::streaming
