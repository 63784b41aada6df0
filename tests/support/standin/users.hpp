// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/standin/scram.hpp"

#include <map>
#include <string>
#include <vector>

namespace cdc::test::standin {

/// A user of the set. Roles as "role@db", "role" meaning "role@admin".
struct user {
    std::string name;
    std::string password;
    std::vector<std::string> roles = {"root"};
    std::string db = "admin"; ///< keeps the user; another one may have one of the same name

    /// "name:password[:role@db,…]"; without roles root, with an empty list none. Throws
    /// std::invalid_argument.
    static user parse(const std::string& text);
};

/// Who may do what. Without users everyone may do everything.
class user_table {
  public:
    /// Throws std::invalid_argument for roles that the stand-in does not know: read, readWrite,
    /// dbOwner, readAnyDatabase, readWriteAnyDatabase, clusterMonitor, root.
    explicit user_table(const std::vector<user>& users);

    bool enabled() const noexcept { return !users_.empty(); }

    /// What the functions below know a user by.
    static std::string full_name(const std::string& db, const std::string& name) {
        return db + "." + name;
    }
    const scram_credentials* credentials(const std::string& name) const;

    bool may_read(const std::string& name, const std::string& db) const;
    bool may_write(const std::string& name, const std::string& db) const;
    bool may_read_everything(const std::string& name) const;
    bool may_list_databases(const std::string& name) const;

  private:
    struct entry {
        scram_credentials credentials;
        std::vector<std::pair<std::string, std::string>> roles; ///< role, database
    };
    bool has_any(const std::string& name, std::initializer_list<std::string_view> roles,
                 std::string_view db) const;
    std::map<std::string, entry> users_;
};

} // namespace cdc::test::standin
