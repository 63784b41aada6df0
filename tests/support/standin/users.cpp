// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/users.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace cdc::test::standin {

user user::parse(const std::string& text) {
    const std::size_t colon = text.find(':');
    if (colon == 0 || colon == std::string::npos)
        throw std::invalid_argument("a user is NAME:PASSWORD[:ROLE@DB,...]");
    user out;
    out.name = text.substr(0, colon);
    const std::size_t second = text.find(':', colon + 1);
    out.password =
        text.substr(colon + 1, second == std::string::npos ? second : second - colon - 1);
    if (out.password.empty())
        throw std::invalid_argument("user " + out.name + " needs a password");
    if (second == std::string::npos)
        return out;
    out.roles.clear();
    std::string rest = text.substr(second + 1);
    while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        out.roles.push_back(rest.substr(0, comma));
        rest = comma == std::string::npos ? std::string() : rest.substr(comma + 1);
    }
    return out;
}

user_table::user_table(const std::vector<user>& users) {
    constexpr std::array<std::string_view, 7> known = {
        "read",           "readWrite", "dbOwner", "readAnyDatabase", "readWriteAnyDatabase",
        "clusterMonitor", "root"};
    for (const auto& u : users) {
        entry e;
        e.credentials = scram_credentials::of(u.password);
        for (const auto& role : u.roles) {
            const std::size_t at = role.find('@');
            const std::string name = role.substr(0, at);
            if (std::ranges::find(known, name) == known.end())
                throw std::invalid_argument("user " + u.name + ": no role " + name);
            e.roles.emplace_back(name, at == std::string::npos ? "admin" : role.substr(at + 1));
        }
        users_[full_name(u.db, u.name)] = std::move(e);
    }
}

const scram_credentials* user_table::credentials(const std::string& name) const {
    const auto at = users_.find(name);
    return at == users_.end() ? nullptr : &at->second.credentials;
}

bool user_table::has_any(const std::string& name, std::initializer_list<std::string_view> roles,
                         std::string_view db) const {
    const auto at = users_.find(name);
    if (at == users_.end())
        return !enabled();
    return std::ranges::any_of(at->second.roles, [&](const auto& r) {
        return r.second == db && std::ranges::find(roles, r.first) != roles.end();
    });
}

bool user_table::may_read(const std::string& name, const std::string& db) const {
    const bool internal = db == "local" || db == "config";
    return has_any(name, {"root"}, "admin") ||
           has_any(name, {"read", "readWrite", "dbOwner"}, db) ||
           (!internal && has_any(name, {"readAnyDatabase", "readWriteAnyDatabase"}, "admin"));
}

bool user_table::may_write(const std::string& name, const std::string& db) const {
    return has_any(name, {"root", "readWriteAnyDatabase"}, "admin") ||
           has_any(name, {"readWrite", "dbOwner"}, db);
}

bool user_table::may_read_everything(const std::string& name) const {
    return has_any(name, {"root", "readAnyDatabase", "readWriteAnyDatabase"}, "admin");
}

bool user_table::may_list_databases(const std::string& name) const {
    return may_read_everything(name) || has_any(name, {"clusterMonitor"}, "admin");
}

} // namespace cdc::test::standin
