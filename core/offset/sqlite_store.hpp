// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/offset/process_lock.hpp"
#include "core/offset/store.hpp"

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

struct sqlite3;

namespace cdc::offset {

/// Positions in one SQLite file (WAL, synchronous FULL: what `save` returned for survives a power
/// cut), readable with the sqlite3 shell while the program runs:
///     positions(connector, sink, partition, position, updated_ms)   position is JSON
///     identities(connector, identity, updated_ms)                   identity is JSON
/// `PRAGMA user_version` is the version of this layout. Thread-safe; every call blocks.
///
/// "<path>.lock" keeps a second process (or a second store of this process) out for as long as the
/// object lives, and vanishes with the process.
class sqlite_store final : public store {
  public:
    static constexpr int layout_version = 1;

    /// Opens, or creates the file in an existing folder. An existing file is changed only once it
    /// is known to be ours and sound, and is never removed or started anew. Errors: state_locked;
    /// state_invalid (not a database, damaged, of something else, written by a newer program); io
    /// (the text names path or folder).
    static error::result<std::unique_ptr<sqlite_store>> open(const std::filesystem::path& path);

    /// Opens an existing file to look at it: takes no lock, creates and changes nothing (but the
    /// index of a write-ahead log that a crash left, which is rebuilt), and reads along with a
    /// process that uses it. `save` fails. Errors: state_invalid, io as `open`.
    static error::result<std::unique_ptr<sqlite_store>>
    open_to_read(const std::filesystem::path& path);

    error::result<std::vector<entry>> load(const std::string& connector) override;
    error::result<void> save(const std::vector<entry>& entries) override;
    error::result<std::vector<entry>> list() override;
    error::result<std::optional<std::string>> load_identity(const std::string& connector) override;
    error::result<void> save_identity(const std::string& connector,
                                      const std::string& identity) override;

  private:
    struct close_database {
        void operator()(sqlite3* db) const noexcept;
    };
    using database = std::unique_ptr<sqlite3, close_database>;

    sqlite_store(std::optional<process_lock> lock, database db, std::string name) noexcept
        : lock_(std::move(lock))
        , db_(std::move(db))
        , name_(std::move(name)) {}

    error::result<void> prepare();
    /// Whether the file is ours and sound; gives its layout version, 0 for an empty one.
    error::result<std::int64_t> examine();
    error::result<void> check_tables();
    error::result<std::vector<entry>> select(const std::string* connector);
    error::result<void> run(const char* sql);
    error::diagnostics failure(const char* what) const;

    std::optional<process_lock> lock_; ///< released after the database is closed
    database db_;
    std::string name_;                             ///< path
    std::pair<std::uint64_t, std::uint64_t> file_; ///< device and number, while opened to write
    std::mutex mutex_;
};

} // namespace cdc::offset
