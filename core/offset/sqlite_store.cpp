// SPDX-License-Identifier: Apache-2.0
#include "core/offset/sqlite_store.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <chrono>
#include <string_view>
#include <system_error>

namespace cdc::offset {

namespace {

using error::errc;

/// One prepared statement.
class statement {
  public:
    statement(sqlite3* db, std::string_view sql) {
        ok_ = sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &stmt_, nullptr) ==
              SQLITE_OK;
    }
    ~statement() { sqlite3_finalize(stmt_); }
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;

    bool ok() const noexcept { return ok_; }
    void bind(int at, const std::string& text) {
        sqlite3_bind_text64(stmt_, at, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    }
    void bind(int at, std::int64_t number) { sqlite3_bind_int64(stmt_, at, number); }
    /// SQLITE_ROW, SQLITE_DONE or an error.
    int step() { return sqlite3_step(stmt_); }
    void reset() { sqlite3_reset(stmt_); }
    std::string text(int column) const {
        const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(stmt_, column));
        const int size = sqlite3_column_bytes(stmt_, column);
        return bytes ? std::string(bytes, static_cast<std::size_t>(size)) : std::string{};
    }
    std::int64_t number(int column) const { return sqlite3_column_int64(stmt_, column); }

  private:
    sqlite3_stmt* stmt_ = nullptr;
    bool ok_ = false;
};

std::int64_t now_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

constexpr const char* create_layout = R"sql(
CREATE TABLE positions(
    connector TEXT NOT NULL,
    sink TEXT NOT NULL,
    "partition" TEXT NOT NULL,
    position TEXT NOT NULL,
    updated_ms INTEGER NOT NULL,
    PRIMARY KEY(connector, sink, "partition")
) WITHOUT ROWID;
CREATE TABLE identities(
    connector TEXT NOT NULL PRIMARY KEY,
    identity TEXT NOT NULL,
    updated_ms INTEGER NOT NULL
) WITHOUT ROWID;
PRAGMA user_version = 1;
)sql";
static_assert(sqlite_store::layout_version == 1, "the text above sets the version too");

constexpr int busy_ms = 5000; // someone reading along with the sqlite3 shell

/// Device and number of the file behind a path; zeros when there is none.
std::pair<std::uint64_t, std::uint64_t> file_at(const std::string& path) {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0)
        return {0, 0};
    return {found.st_dev, found.st_ino};
}

/// A URI for SQLite, in which `?` and `#` would end the path.
std::string uri_of(const std::filesystem::path& path, const char* parameters) {
    std::string out = "file:";
    for (const char c : path.native()) {
        if (c == '%' || c == '?' || c == '#')
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        else
            out += c;
    }
    return out + "?" + parameters;
}

} // namespace

void sqlite_store::close_database::operator()(sqlite3* db) const noexcept {
    sqlite3_close_v2(db);
}

error::diagnostics sqlite_store::failure(const char* what) const {
    const int code = sqlite3_errcode(db_.get());
    const int primary = code & 0xff;
    const bool damaged = primary == SQLITE_NOTADB || primary == SQLITE_CORRUPT;
    const char* advice =
        damaged ? "; the file was left as it is: restore it, or move it away to start anew" : "";
    return error::fail(damaged ? errc::state_invalid : errc::io,
                       fmt::format("cannot {} the state file {}: {}{}", what, name_,
                                   sqlite3_errmsg(db_.get()), advice));
}

error::result<void> sqlite_store::run(const char* sql) {
    if (sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
        return failure("set up");
    return {};
}

error::result<std::unique_ptr<sqlite_store>>
sqlite_store::open(const std::filesystem::path& given) {
    if (given.empty() || given.native().find('\0') != std::string::npos)
        return error::fail(errc::configuration, "the path of the state file is not a path");
    // The lock is beside the file itself, so that a link to it does not lead around the lock.
    std::error_code unresolved;
    auto path = std::filesystem::weakly_canonical(given, unresolved);
    if (unresolved)
        path = given;
    const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    std::error_code ec;
    if (!std::filesystem::is_directory(folder, ec))
        return error::fail(errc::io,
                           fmt::format("the folder {} of the state file does not exist: {}",
                                       folder.string(), ec ? ec.message() : "it is not a folder"));
    if (std::filesystem::is_directory(path, ec))
        return error::fail(errc::io, fmt::format("the state file {} is a folder", path.string()));

    std::filesystem::path lock_path = path;
    lock_path += ".lock";
    auto lock = process_lock::acquire(lock_path);
    if (!lock) {
        auto d = lock.error();
        if (d.code == errc::state_locked)
            d.text = "the state file " + path.string() + " is in use: " + d.text;
        return d;
    }

    sqlite3* raw = nullptr;
    const int opened = sqlite3_open_v2(
        path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX,
        nullptr);
    database db(raw);
    std::unique_ptr<sqlite_store> store(
        new sqlite_store(std::move(*lock), std::move(db), path.string()));
    if (opened != SQLITE_OK)
        return store->failure("open");
    auto ready = store->prepare();
    if (!ready)
        return ready.error();
    store->file_ = file_at(store->name_);
    return store;
}

error::result<std::unique_ptr<sqlite_store>>
sqlite_store::open_to_read(const std::filesystem::path& path) {
    const auto beside = [&](const char* suffix) { return path.native() + suffix; };
    std::error_code ec;
    const auto log_size = std::filesystem::file_size(beside("-wal"), ec);
    const bool has_log = (!ec && log_size > 0) || std::filesystem::exists(beside("-shm"), ec);
    // Without a log the file is all there is. SQLite would still create a log and its index.
    const auto uri = uri_of(path, has_log ? "mode=ro" : "mode=ro&immutable=1");
    sqlite3* raw = nullptr;
    const int opened = sqlite3_open_v2(
        uri.c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_FULLMUTEX, nullptr);
    database db(raw);
    std::unique_ptr<sqlite_store> store(
        new sqlite_store(std::nullopt, std::move(db), path.string()));
    if (opened != SQLITE_OK)
        return store->failure("open");
    sqlite3_busy_timeout(store->db_.get(), busy_ms);
    auto version = store->examine();
    if (!version)
        return version.error();
    if (auto r = store->check_tables(); !r)
        return r.error();
    return store;
}

error::result<std::int64_t> sqlite_store::examine() {
    std::int64_t version = 0;
    std::int64_t objects = 0;
    {
        statement ask(db_.get(), "PRAGMA user_version");
        if (!ask.ok() || ask.step() != SQLITE_ROW)
            return failure("read");
        version = ask.number(0);
    }
    {
        statement ask(db_.get(), "SELECT count(*) FROM sqlite_master");
        if (!ask.ok() || ask.step() != SQLITE_ROW)
            return failure("read");
        objects = ask.number(0);
    }
    if (version > layout_version)
        return error::fail(
            errc::state_invalid,
            fmt::format("the state file {} has layout version {}, written by a newer "
                        "program; this one knows versions up to {}",
                        name_, version, layout_version));
    if (version < 0 || (version == 0 && objects > 0))
        return error::fail(
            errc::state_invalid,
            fmt::format("{} is a SQLite database of something else; it is not touched", name_));
    {
        statement check(db_.get(), "PRAGMA quick_check(1)");
        if (!check.ok() || check.step() != SQLITE_ROW)
            return failure("check");
        const std::string answer = check.text(0);
        if (answer != "ok")
            return error::fail(errc::state_invalid,
                               fmt::format("the state file {} is damaged: {}; the file was left as "
                                           "it is: restore it, or move it away to start anew",
                                           name_, answer));
    }
    return version;
}

error::result<void> sqlite_store::prepare() {
    sqlite3_busy_timeout(db_.get(), busy_ms);
    auto version = examine();
    if (!version)
        return version.error();
    {
        statement wal(db_.get(), "PRAGMA journal_mode = WAL");
        if (!wal.ok() || wal.step() != SQLITE_ROW)
            return failure("set up");
        if (wal.text(0) != "wal")
            return error::fail(errc::io, fmt::format("the state file {} cannot use a write-ahead "
                                                     "log here (journal mode {})",
                                                     name_, wal.text(0)));
    }
    if (auto r = run("PRAGMA synchronous = FULL"); !r)
        return r;
    if (*version == 0) {
        if (auto r = run("BEGIN IMMEDIATE"); !r)
            return r;
        auto r = run(create_layout);
        if (r)
            r = run("COMMIT");
        if (!r) {
            sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
            return r;
        }
    }
    // Fails here, not at the first save, when the file has the right version but other tables.
    if (auto r = check_tables(); !r)
        return r;
    // A file that may be read only would otherwise be noticed after the first records went out.
    if (sqlite3_db_readonly(db_.get(), "main") == 1)
        return error::fail(errc::io, fmt::format("the state file {} is not writable", name_));
    return {};
}

error::result<void> sqlite_store::check_tables() {
    statement probe(db_.get(),
                    R"(SELECT connector, sink, "partition", position, updated_ms, identity
                                  FROM positions LEFT JOIN identities USING(connector, updated_ms))");
    if (!probe.ok())
        return error::fail(
            errc::state_invalid,
            fmt::format("the state file {} does not have the tables of version {}: {}", name_,
                        layout_version, sqlite3_errmsg(db_.get())));
    return {};
}

error::result<std::vector<entry>> sqlite_store::select(const std::string* connector) {
    const std::lock_guard lock(mutex_);
    statement s(db_.get(), connector ? R"(SELECT connector, sink, "partition", position, updated_ms
                                          FROM positions WHERE connector = ?1 ORDER BY 1, 2, 3)"
                                     : R"(SELECT connector, sink, "partition", position, updated_ms
                                          FROM positions ORDER BY 1, 2, 3)");
    if (!s.ok())
        return failure("read");
    if (connector)
        s.bind(1, *connector);
    std::vector<entry> out;
    for (;;) {
        const int code = s.step();
        if (code == SQLITE_DONE)
            return out;
        if (code != SQLITE_ROW)
            return failure("read");
        entry e;
        e.key = {s.text(0), s.text(1), s.text(2)};
        e.position = s.text(3);
        e.updated_ms = s.number(4);
        out.push_back(std::move(e));
    }
}

error::result<std::vector<entry>> sqlite_store::load(const std::string& connector) {
    return select(&connector);
}

error::result<std::vector<entry>> sqlite_store::list() {
    return select(nullptr);
}

error::result<void> sqlite_store::save(const std::vector<entry>& entries) {
    if (entries.empty())
        return {};
    const std::lock_guard lock(mutex_);
    // SQLite would go on writing into a file that nobody can find again.
    if (file_at(name_) != file_)
        return error::fail(errc::state_invalid,
                           fmt::format("the state file {} was removed or replaced while it was in "
                                       "use; positions can no longer be stored",
                                       name_));
    const auto roll_back = [this](error::diagnostics d) -> error::result<void> {
        sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
        return d;
    };
    if (sqlite3_exec(db_.get(), "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK)
        return failure("write");
    {
        statement s(db_.get(),
                    R"(INSERT INTO positions(connector, sink, "partition", position, updated_ms)
                                  VALUES(?1, ?2, ?3, ?4, ?5)
                                  ON CONFLICT(connector, sink, "partition") DO UPDATE
                                  SET position = excluded.position, updated_ms = excluded.updated_ms)");
        if (!s.ok())
            return roll_back(failure("write"));
        for (const auto& e : entries) {
            s.bind(1, e.key.connector);
            s.bind(2, e.key.sink);
            s.bind(3, e.key.partition);
            s.bind(4, e.position);
            s.bind(5, e.updated_ms);
            if (s.step() != SQLITE_DONE)
                return roll_back(failure("write"));
            s.reset();
        }
    }
    if (sqlite3_exec(db_.get(), "COMMIT", nullptr, nullptr, nullptr) != SQLITE_OK)
        return roll_back(failure("write"));
    return {};
}

error::result<std::optional<std::string>>
sqlite_store::load_identity(const std::string& connector) {
    const std::lock_guard lock(mutex_);
    statement s(db_.get(), "SELECT identity FROM identities WHERE connector = ?1");
    if (!s.ok())
        return failure("read");
    s.bind(1, connector);
    const int code = s.step();
    if (code == SQLITE_DONE)
        return std::optional<std::string>{};
    if (code != SQLITE_ROW)
        return failure("read");
    return std::optional<std::string>{s.text(0)};
}

error::result<void> sqlite_store::save_identity(const std::string& connector,
                                                const std::string& identity) {
    const std::lock_guard lock(mutex_);
    statement s(db_.get(), R"(INSERT INTO identities(connector, identity, updated_ms)
                              VALUES(?1, ?2, ?3)
                              ON CONFLICT(connector) DO UPDATE
                              SET identity = excluded.identity, updated_ms = excluded.updated_ms)");
    if (!s.ok())
        return failure("write");
    s.bind(1, connector);
    s.bind(2, identity);
    s.bind(3, now_ms());
    if (s.step() != SQLITE_DONE)
        return failure("write");
    return {};
}

} // namespace cdc::offset
