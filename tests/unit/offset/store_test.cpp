// SPDX-License-Identifier: Apache-2.0
#include "core/offset/memory_store.hpp"
#include "core/offset/sqlite_store.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_data.hpp"

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

using namespace cdc::offset;
using cdc::error::errc;

namespace {

entry make(std::string connector, std::string sink, std::string position, std::int64_t ms = 1) {
    return {{std::move(connector), std::move(sink), "server"}, std::move(position), ms};
}

std::unique_ptr<sqlite_store> must_open(const std::filesystem::path& path) {
    auto r = sqlite_store::open(path);
    INFO((r ? std::string{} : r.error().describe()));
    REQUIRE(r.has_value());
    return std::move(*r);
}

cdc::error::diagnostics must_fail(const std::filesystem::path& path) {
    auto r = sqlite_store::open(path);
    REQUIRE_FALSE(r.has_value());
    return r.error();
}

void execute(const std::filesystem::path& path, const std::string& sql) {
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(db);
}

std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

void check_contract(store& s) {
    CHECK(s.load("a")->empty());
    CHECK(s.list()->empty());
    CHECK_FALSE(s.load_identity("a")->has_value());
    REQUIRE(s.save({}));
    REQUIRE(s.save({make("a", "x", R"({"n":1})", 10), make("a", "y", R"({"n":2})", 11)}));
    REQUIRE(s.save({make("b", "x", R"({"n":"ü'\""})", 12)}));
    REQUIRE(s.save({make("a", "x", R"({"n":3})", 13)}));
    const auto a = *s.load("a");
    REQUIRE(a.size() == 2);
    CHECK(a[0].key == key{"a", "x", "server"});
    CHECK(a[0].position == R"({"n":3})");
    CHECK(a[0].updated_ms == 13);
    CHECK(a[1].position == R"({"n":2})");
    CHECK(s.load("b")->front().position == R"({"n":"ü'\""})");
    CHECK(s.list()->size() == 3);
    REQUIRE(s.save_identity("a", R"({"set":"rs0"})"));
    REQUIRE(s.save_identity("a", R"({"set":"rs1"})"));
    CHECK(*s.load_identity("a") == R"({"set":"rs1"})");
    CHECK_FALSE(s.load_identity("b")->has_value());
}

} // namespace

TEST_CASE("stores keep positions and identities", "[offset]") {
    memory_store memory;
    check_contract(memory);
    cdc::test::temp_dir dir;
    check_contract(*must_open(dir.path() / "state.db"));
}

TEST_CASE("sqlite_store: what was saved is there after reopening", "[offset]") {
    cdc::test::temp_dir dir;
    const auto path = dir.path() / "state.db";
    {
        auto s = must_open(path);
        REQUIRE(s->save({make("a", "x", "{}")}));
        REQUIRE(s->save_identity("a", "{}"));
    }
    auto s = must_open(path);
    CHECK(s->load("a")->size() == 1);
    CHECK(s->load_identity("a")->has_value());
}

TEST_CASE("sqlite_store: a second store is refused until the first is gone", "[offset]") {
    cdc::test::temp_dir dir;
    const auto path = dir.path() / "state.db";
    {
        auto first = must_open(path);
        const auto d = must_fail(path);
        CHECK(d.code == errc::state_locked);
        CHECK(d.text.find(path.string()) != std::string::npos);
        CHECK(d.text.find("process " + std::to_string(::getpid())) != std::string::npos);
        REQUIRE(first->save({make("a", "x", "{}")}));
    }
    must_open(path);
}

TEST_CASE("sqlite_store: a killed process leaves no lock and all it saved", "[offset]") {
    cdc::test::temp_dir dir;
    const auto path = dir.path() / "state.db";
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        auto s = sqlite_store::open(path);
        const bool ok = s && (*s)->save({make("a", "x", "{\"n\":1}")}) &&
                        (*s)->save({make("a", "x", "{\"n\":2}")});
        const char byte = ok ? '+' : '-';
        [[maybe_unused]] const auto n = ::write(ready[1], &byte, 1);
        for (;;)
            ::pause();
    }
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    CHECK(byte == '+');
    const auto refused = must_fail(path);
    CHECK(refused.code == errc::state_locked);
    CHECK(refused.text.find("process " + std::to_string(child)) != std::string::npos);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    auto s = must_open(path);
    CHECK(s->load("a")->front().position == "{\"n\":2}");
}

TEST_CASE("sqlite_store: the file is durable before save returns", "[offset]") {
    // A copy of the files as they stand stands for what a power cut would leave.
    cdc::test::temp_dir dir;
    auto s = must_open(dir.path() / "state.db");
    REQUIRE(s->save({make("a", "x", "{\"n\":7}")}));
    std::filesystem::create_directory(dir.path() / "copy");
    for (const char* name : {"state.db", "state.db-wal"})
        std::filesystem::copy_file(dir.path() / name, dir.path() / "copy" / name);
    auto copy = must_open(dir.path() / "copy" / "state.db");
    CHECK(copy->load("a")->front().position == "{\"n\":7}");
}

TEST_CASE("sqlite_store: files of others, newer or damaged ones are refused and left alone",
          "[offset]") {
    cdc::test::temp_dir dir;
    const auto path = dir.path() / "state.db";
    std::string expected;
    SECTION("not a database") {
        write(path, std::string(5000, 'x'));
        expected = "not a database";
    }
    SECTION("a short text file") {
        write(path, "hello");
        expected = "not a database";
    }
    SECTION("newer layout") {
        must_open(path);
        execute(path, "PRAGMA user_version = 7");
        expected =
            "has layout version 7, written by a newer program; this one knows versions up to 1";
    }
    SECTION("a database of something else") {
        execute(path, "CREATE TABLE customers(id INTEGER)");
        expected = "something else";
    }
    SECTION("the right version with other tables") {
        execute(path, "CREATE TABLE positions(id INTEGER); PRAGMA user_version = 1");
        expected = "does not have the tables";
    }
    SECTION("damaged pages") {
        {
            auto s = must_open(path);
            std::vector<entry> many;
            for (int i = 0; i < 500; ++i)
                many.push_back(make("c", "sink" + std::to_string(i), std::string(100, 'p')));
            REQUIRE(s->save(many));
        }
        auto bytes = read(path);
        REQUIRE(bytes.size() > 20000);
        for (std::size_t i = 4096; i < bytes.size(); ++i)
            bytes[i] = static_cast<char>(i * 7);
        write(path, bytes);
        expected = "left as it is";
    }
    const auto before = read(path);
    const auto d = must_fail(path);
    CAPTURE(d.describe());
    CHECK(d.code == errc::state_invalid);
    CHECK(d.text.find(path.string()) != std::string::npos);
    CHECK(d.text.find(expected) != std::string::npos);
    // A file of ours was switched to the log before; apart from that no byte may differ.
    CHECK(read(path).size() == before.size());
    if (expected == "not a database" || expected == "left as it is")
        CHECK(read(path) == before);
    // The refused open holds no lock.
    CHECK(must_fail(path).code == errc::state_invalid);
}

TEST_CASE("sqlite_store: paths that cannot be used are named", "[offset]") {
    cdc::test::temp_dir dir;
    auto d = must_fail(dir.path() / "missing" / "state.db");
    CHECK(d.code == errc::io);
    CHECK(d.text.find((dir.path() / "missing").string()) != std::string::npos);

    write(dir.path() / "plain", "x");
    d = must_fail(dir.path() / "plain" / "state.db");
    CHECK(d.code == errc::io);

    std::filesystem::create_directory(dir.path() / "folder");
    d = must_fail(dir.path() / "folder");
    CHECK(d.code == errc::io);
    CHECK(d.text.find("folder") != std::string::npos);

    CHECK(must_fail("").code == errc::configuration);
    CHECK(must_fail(std::string("a\0b", 3)).code == errc::configuration);

    d = must_fail("/proc/mongocdc-state.db");
    CHECK(d.code == errc::io);
    CHECK(d.text.find("/proc/mongocdc-state.db") != std::string::npos);
}

TEST_CASE("sqlite_store: an unwritable folder is an error at start", "[offset]") {
    if (::geteuid() == 0)
        return; // permissions do not stop root; the case above has another unwritable folder
    cdc::test::temp_dir dir;
    std::filesystem::permissions(dir.path(), std::filesystem::perms::owner_read |
                                                 std::filesystem::perms::owner_exec);
    CHECK(must_fail(dir.path() / "state.db").code == errc::io);
    std::filesystem::permissions(dir.path(), std::filesystem::perms::owner_all);
}

TEST_CASE("sqlite_store: a failed save changes nothing and says so", "[offset]") {
    cdc::test::temp_dir dir;
    const auto path = dir.path() / "state.db";
    auto s = must_open(path);
    REQUIRE(s->save({make("a", "x", "{\"n\":1}")}));
    execute(path, "CREATE TRIGGER refuse BEFORE INSERT ON positions WHEN NEW.sink = 'bad' "
                  "BEGIN SELECT RAISE(ABORT, 'no room'); END");
    auto r = s->save({make("a", "x", "{\"n\":2}"), make("a", "bad", "{}")});
    REQUIRE_FALSE(r);
    CHECK(r.error().code == errc::io);
    CHECK(r.error().text.find("no room") != std::string::npos);
    CHECK(s->load("a")->front().position == "{\"n\":1}");
    REQUIRE(s->save({make("a", "x", "{\"n\":3}")}));
}

TEST_CASE("sqlite_store: threads may share it", "[offset]") {
    cdc::test::temp_dir dir;
    auto s = must_open(dir.path() / "state.db");
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&s, t] {
            for (int i = 0; i < 20; ++i) {
                (void)s->save({make("c" + std::to_string(t), "x", std::to_string(i))});
                (void)s->load("c0");
            }
        });
    for (auto& t : threads)
        t.join();
    CHECK(s->list()->size() == 4);
    for (const auto& e : *s->list())
        CHECK(e.position == "19");
}

TEST_CASE("a state file can be looked at without being touched", "[offset][sqlite]") {
    const cdc::test::temp_dir dir;
    const auto path = dir.path() / "odd ?#% name.db";
    CHECK(sqlite_store::open_to_read(path).error().code == errc::io); // and is not created
    {
        auto s = must_open(path);
        REQUIRE(s->save({make("a", "x", "1")}));
        REQUIRE(s->save_identity("a", "me"));

        const auto beside = sqlite_store::open_to_read(path); // while it is in use
        REQUIRE(beside.has_value());
        CHECK((*beside)->load("a")->at(0).position == "1");
        REQUIRE(s->save({make("a", "x", "2")}));
        CHECK((*beside)->load("a")->at(0).position == "2");
    }
    std::filesystem::remove(path.string() + ".lock");
    const auto bytes = read(path);
    {
        const auto alone = sqlite_store::open_to_read(path);
        REQUIRE(alone.has_value());
        CHECK((*alone)->load("a")->at(0).position == "2");
        CHECK(*(*alone)->load_identity("a") == "me");
        CHECK_FALSE((*alone)->save({make("a", "x", "3")}).has_value());
        CHECK_FALSE((*alone)->save_identity("a", "you").has_value());
        const std::filesystem::directory_iterator files(dir.path());
        CHECK(std::distance(begin(files), end(files)) == 1); // no log, no index, no lock
    }
    CHECK(read(path) == bytes);

    execute(path, "PRAGMA user_version = 99");
    CHECK(sqlite_store::open_to_read(path).error().code == errc::state_invalid);
    write(path, std::string(5000, 'x'));
    CHECK(sqlite_store::open_to_read(path).error().code == errc::state_invalid);
}

TEST_CASE("a lock can be looked at", "[offset][lock]") {
    const cdc::test::temp_dir dir;
    const auto file = dir.path() / "lock";
    CHECK(process_lock::look(file).has_value());
    CHECK_FALSE(std::filesystem::exists(file));
    {
        const auto held = process_lock::acquire(file);
        REQUIRE(held.has_value());
        CHECK(process_lock::look(file).error().code == errc::state_locked);
    }
    CHECK(process_lock::look(file).has_value());
    CHECK(process_lock::acquire(file).has_value());
}

TEST_CASE("sqlite store: a file that is removed or replaced while in use is noticed",
          "[offset][sqlite]") {
    cdc::test::temp_dir dir;
    const auto path = dir.path() / "state.db";
    auto store = sqlite_store::open(path);
    REQUIRE(store);
    REQUIRE((*store)->save({{{"c", "s", "p"}, "{}", 1}}));
    std::filesystem::remove(path);
    const auto saved = (*store)->save({{{"c", "s", "p"}, "{}", 2}});
    REQUIRE_FALSE(saved);
    CHECK(saved.error().code == errc::state_invalid);
    CHECK(saved.error().text.find("removed or replaced") != std::string::npos);
}

TEST_CASE("sqlite store: a link to the file does not lead around the lock", "[offset][sqlite]") {
    cdc::test::temp_dir dir;
    const auto path = dir.path() / "state.db";
    auto store = sqlite_store::open(path);
    REQUIRE(store);
    std::filesystem::create_symlink(path, dir.path() / "link.db");
    const auto second = sqlite_store::open(dir.path() / "link.db");
    REQUIRE_FALSE(second);
    CHECK(second.error().code == errc::state_locked);
}
