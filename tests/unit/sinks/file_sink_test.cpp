// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/blocking_pool.hpp"
#include "sinks/file/file_sink.hpp"
#include "sinks/file/line_format.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/log_capture.hpp"
#include "tests/support/sink_conformance.hpp"
#include "tests/support/test_data.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <simdjson.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

using namespace cdc;
using error::errc;
using file::file_options;
using file::fsync_mode;
namespace fs = std::filesystem;
namespace asio = boost::asio;

namespace {

std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void put(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

std::vector<std::string> lines(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::vector<std::string> out;
    for (std::string line; std::getline(in, line);)
        out.push_back(line);
    return out;
}

/// All files of a sink in the order they were written: rotated ones by number, the current one
/// last.
std::vector<fs::path> files_of(const fs::path& path) {
    std::vector<fs::path> out;
    for (const auto& e : fs::directory_iterator(path.parent_path()))
        if (e.path() != path)
            out.push_back(e.path());
    std::sort(out.begin(), out.end());
    out.push_back(path);
    return out;
}

std::vector<test::delivered_record> parse(const fs::path& path) {
    std::vector<test::delivered_record> out;
    simdjson::dom::parser parser;
    for (const auto& line : lines(path)) {
        simdjson::padded_string text(line);
        simdjson::dom::element doc;
        simdjson::dom::array headers;
        simdjson::dom::object fields;
        std::string_view topic;
        const bool sound = parser.parse(text).get(doc) == simdjson::SUCCESS &&
                           doc["topic"].get(topic) == simdjson::SUCCESS &&
                           doc["headers"].get(headers) == simdjson::SUCCESS &&
                           headers.size() == 0 && doc.get(fields) == simdjson::SUCCESS &&
                           fields.size() == 4 && line.ends_with(",\"headers\":[]}");
        if (!sound)
            FAIL("not a line of the file sink: " << line.substr(0, 200));
        test::delivered_record r;
        r.topic = std::string(topic);
        // The nested texts as they were given, to see that they were not touched.
        const auto key = line.find(",\"key\":") + 7;
        const auto value = line.find(",\"value\":", key);
        r.key = line.substr(key, value - key);
        r.value = line.substr(value + 9, line.size() - value - 9 - 14);
        if (*r.value == "null")
            r.value.reset();
        out.push_back(std::move(r));
    }
    return out;
}

/// A file sink with a reactor; calls run to their end.
struct bench {
    explicit bench(file_options options) {
        sink::context c;
        c.executor = io.get_executor();
        c.blocking = &blocking;
        c.logger = {log, "file"};
        c.acknowledge = [this](std::uint64_t, std::uint64_t last) { acknowledged = last; };
        sink = std::make_unique<file::file_sink>(std::move(c), std::move(options));
    }
    ~bench() {
        if (sink)
            stop();
    }
    error::result<void> start() { return finish(sink->start()); }
    error::result<void> write(int first, int last) {
        event::record_batch_builder b(static_cast<std::uint64_t>(first));
        for (int n = first; n <= last; ++n) {
            b.begin_event("82");
            b.begin_record(topic, event::operation::create);
            b.buffer() += "{\"id\":" + std::to_string(n) + "}";
            b.begin_value();
            b.buffer() += "{\"n\":" + std::to_string(n) + "}";
            b.end_record(false);
        }
        std::vector<std::shared_ptr<const event::record_batch>> list{b.finish()};
        return finish(sink->write(std::move(list)));
    }
    error::result<void> flush() { return finish(sink->flush()); }
    void stop() {
        auto f = asio::co_spawn(io, sink->stop(), asio::use_future);
        io.restart();
        io.run();
        f.get();
        sink.reset();
    }
    error::result<void> finish(asio::awaitable<error::result<void>> work) {
        std::optional<error::result<void>> out;
        asio::co_spawn(io, keep(std::move(work), out), asio::detached);
        while (!out) {
            io.restart();
            io.run_one();
        }
        return *out;
    }
    static asio::awaitable<void> keep(asio::awaitable<error::result<void>> work,
                                      std::optional<error::result<void>>& out) {
        auto r = co_await std::move(work);
        out = std::move(r);
    }

    asio::io_context io{1};
    runtime::blocking_pool blocking{2};
    std::shared_ptr<test::log_capture> log = test::log_capture::make();
    std::shared_ptr<const std::string> topic = std::make_shared<const std::string>("t");
    std::uint64_t acknowledged = 0;
    std::unique_ptr<file::file_sink> sink;
};

std::string line(int n) {
    const auto number = std::to_string(n);
    return R"({"topic":"t","key":{"id":)" + number + R"(},"value":{"n":)" + number +
           "},\"headers\":[]}\n";
}
std::string all_lines(int first, int last) {
    std::string out;
    for (int n = first; n <= last; ++n)
        out += line(n);
    return out;
}

void check_file_sink(file_options options) {
    std::vector<std::shared_ptr<test::temp_dir>> dirs;
    test::check_sink([&] {
        auto dir = std::make_shared<test::temp_dir>();
        dirs.push_back(dir);
        options.path = dir->path() / "events.jsonl";
        test::sink_subject s;
        s.make = [options](sink::context c) {
            return std::make_unique<file::file_sink>(std::move(c), options);
        };
        s.delivered = [path = options.path] {
            std::vector<test::delivered_record> out;
            for (const auto& f : files_of(path))
                for (auto& r : parse(f))
                    out.push_back(std::move(r));
            return out;
        };
        return s;
    });
}

} // namespace

TEST_CASE("file sink conforms: fsync batch", "[sinks][file]") {
    check_file_sink({{}, fsync_mode::batch, {}, 0});
}
TEST_CASE("file sink conforms: fsync interval", "[sinks][file]") {
    check_file_sink({{}, fsync_mode::interval, std::chrono::milliseconds{5}, 0});
}
TEST_CASE("file sink conforms: fsync never", "[sinks][file]") {
    check_file_sink({{}, fsync_mode::never, {}, 0});
}
TEST_CASE("file sink conforms: rotating", "[sinks][file]") {
    check_file_sink({{}, fsync_mode::batch, {}, 20000});
}
TEST_CASE("file sink conforms: rotating, fsync interval", "[sinks][file]") {
    check_file_sink({{}, fsync_mode::interval, std::chrono::milliseconds{2}, 5000});
}

TEST_CASE("file sink: one line a record, nested JSON as it is", "[sinks][file]") {
    event::record_batch_builder b(1);
    const auto topic = std::make_shared<const std::string>("a\"b\\c\n");
    const auto add = [&](const char* key, const char* value) {
        b.begin_event("82");
        b.begin_record(topic, event::operation::create);
        b.buffer() += key;
        b.begin_value();
        if (value)
            b.buffer() += value;
        b.end_record(!value);
    };
    add("{\"id\":1}", "{\"x\":\"y\\n\"}");
    add("{\n \"id\": 1\n}", "[1,\n2]");
    add("7", nullptr);
    add("", "null");
    const auto batch = b.finish();
    std::string out;
    for (std::size_t i = 0; i < batch->size(); ++i)
        file::append_line(out, (*batch)[i]);
    const std::string head = R"({"topic":"a\"b\\c\u000a","key":)";
    CHECK(out == head + R"({"id":1},"value":{"x":"y\n"},"headers":[]})" + "\n" + head +
                     R"({  "id": 1 },"value":[1, 2],"headers":[]})" + "\n" + head +
                     R"(7,"value":null,"headers":[]})" + "\n" + head +
                     R"(null,"value":null,"headers":[]})" + "\n");
}

TEST_CASE("file sink: with fsync interval nothing is acknowledged before it", "[sinks][file]") {
    test::temp_dir dir;
    bench b({dir.path() / "e.jsonl", fsync_mode::interval, std::chrono::hours{1}, 0});
    REQUIRE(b.start());
    REQUIRE(b.write(1, 10));
    CHECK(b.acknowledged == 0);
    CHECK(read(dir.path() / "e.jsonl") == all_lines(1, 10));
    REQUIRE(b.flush());
    CHECK(b.acknowledged == 10);
}

TEST_CASE("fault 150: file sink: a torn last line is cut wherever it was torn",
          "[sinks][file][fault-150]") {
    test::temp_dir dir;
    const auto path = dir.path() / "e.jsonl";
    const std::string whole = all_lines(1, 3);
    const std::string last = line(4);
    for (std::size_t torn = 0; torn < last.size(); ++torn) {
        put(path, whole + last.substr(0, torn));
        bench b({path});
        REQUIRE(b.start());
        REQUIRE(read(path) == whole);
        CHECK(b.log->count("cut " + std::to_string(torn) + " bytes of a torn line") ==
              (torn > 0 ? 1U : 0U));
        REQUIRE(b.write(4, 4));
        b.stop();
        REQUIRE(read(path) == whole + last);
    }
    // Nothing torn: the whole line stays.
    bench b({path});
    REQUIRE(b.start());
    CHECK(read(path) == whole + last);
}

TEST_CASE("file sink: NUL bytes that a crash left are cut", "[sinks][file]") {
    test::temp_dir dir;
    const auto path = dir.path() / "e.jsonl";
    const std::string whole = all_lines(1, 3);
    std::string end;
    SECTION("a few") {
        end = std::string(10, '\0');
    }
    SECTION("several blocks") {
        end = std::string(300000, '\0');
    }
    SECTION("behind half a line") {
        end = line(4).substr(0, 20) + std::string(5000, '\0');
    }
    SECTION("in front of the rest of a line") {
        end = std::string(5000, '\0') + line(4).substr(20);
    }
    SECTION("two lines with a hole") {
        end = line(4).substr(0, 12) + std::string(100000, '\0') + "\n" + line(5).substr(0, 12) +
              std::string(70000, '\0') + "\n";
    }
    SECTION("a very long half line") {
        end = line(4).substr(0, 40) + std::string(1000000, 'x');
    }
    put(path, whole + end);
    {
        bench b({path});
        REQUIRE(b.start());
        CHECK(b.log->count("cut " + std::to_string(end.size()) + " bytes") == 1);
    }
    CHECK(read(path) == whole);
    // The same with nothing in front.
    put(path, end);
    bench b({path});
    REQUIRE(b.start());
    CHECK(read(path).empty());
}

TEST_CASE("file sink: the end of somebody else's file is not touched", "[sinks][file]") {
    test::temp_dir dir;
    const auto path = dir.path() / "e.jsonl";
    std::string bytes;
    SECTION("no newline at all") {
        bytes = "SQLite format 3 and so on";
    }
    SECTION("no newline at the end") {
        bytes = "some text\nand more";
    }
    SECTION("binary") {
        bytes = std::string("\x7f"
                            "ELF\0\0\0\0\n\0\0abc\0",
                            16);
    }
    put(path, bytes);
    bench b({path});
    const auto r = b.start();
    REQUIRE_FALSE(r);
    CHECK(r.error().code == errc::state_invalid);
    CHECK(r.error().text.find(path.string()) != std::string::npos);
    CHECK(read(path) == bytes);
}

TEST_CASE("file sink: rotation never splits, loses or overwrites", "[sinks][file]") {
    test::temp_dir dir;
    const auto path = dir.path() / "events.jsonl";
    put(dir.path() / "events-000002.jsonl", "taken\n");
    put(dir.path() / "events-000009x.jsonl", "not a number\n");
    put(dir.path() / "other-000050.jsonl", "of something else\n");
    const std::size_t size = line(10).size();
    {
        bench b({path, fsync_mode::batch, {}, 3 * size});
        REQUIRE(b.start());
        REQUIRE(b.write(10, 16));
        CHECK(b.acknowledged == 16);
        CHECK(read(dir.path() / "events-000003.jsonl") == all_lines(10, 12));
        CHECK(read(dir.path() / "events-000004.jsonl") == all_lines(13, 15));
        CHECK(read(path) == line(16));
        put(dir.path() / "events-000005.jsonl", "came in between\n");
        REQUIRE(b.write(17, 20));
    }
    CHECK(read(dir.path() / "events-000005.jsonl") == "came in between\n");
    CHECK(read(dir.path() / "events-000006.jsonl") == all_lines(16, 18));
    CHECK(read(dir.path() / "events-000002.jsonl") == "taken\n");
    // Reopened: goes on in the file and with the numbers; smaller than a line, it is a line each.
    bench b({path, fsync_mode::never, {}, 1});
    REQUIRE(b.start());
    REQUIRE(b.write(21, 23));
    CHECK(read(dir.path() / "events-000007.jsonl") == all_lines(19, 20));
    CHECK(read(dir.path() / "events-000008.jsonl") == line(21));
    CHECK(read(dir.path() / "events-000009.jsonl") == line(22));
    CHECK(read(path) == line(23));
    CHECK(file::rotated_name("a/b.c.jsonl", 12) == fs::path("a/b.c-000012.jsonl"));
    CHECK(file::rotated_name("plain", 1234567) == fs::path("plain-1234567"));
}

TEST_CASE("file sink: one writer per file", "[sinks][file]") {
    test::temp_dir dir;
    const auto path = dir.path() / "e.jsonl";
    const std::size_t size = line(1).size();
    bench first({path, fsync_mode::batch, {}, 2 * size});
    REQUIRE(first.start());
    const auto refused = [&](const fs::path& at) {
        bench second({at});
        const auto r = second.start();
        REQUIRE_FALSE(r);
        CHECK(r.error().code == errc::state_locked);
        CHECK(r.error().text.find(at.string()) != std::string::npos);
    };
    refused(path);
    fs::create_hard_link(path, dir.path() / "alias.jsonl");
    refused(dir.path() / "alias.jsonl");
    fs::remove(dir.path() / "alias.jsonl");
    // The lock follows a rotation.
    REQUIRE(first.write(1, 5));
    refused(path);
    first.stop();
    bench second({path});
    REQUIRE(second.start());
}

TEST_CASE("file sink: a file that was moved away or removed is begun anew", "[sinks][file]") {
    test::temp_dir dir;
    const auto path = dir.path() / "e.jsonl";
    bench b({path});
    REQUIRE(b.start());
    REQUIRE(b.write(1, 2));
    fs::rename(path, dir.path() / "moved");
    REQUIRE(b.write(3, 4));
    CHECK(read(dir.path() / "moved") == all_lines(1, 2));
    CHECK(read(path) == all_lines(3, 4));
    CHECK(b.log->count("moved or removed") == 1);
    fs::remove(path);
    REQUIRE(b.write(5, 5));
    CHECK(read(path) == line(5));
}

TEST_CASE("fault 151: file sink: paths that cannot be used are refused at start",
          "[sinks][file][fault-151]") {
    test::temp_dir dir;
    const auto refuse = [](const fs::path& path, errc code, const std::string& part) {
        bench b({path});
        const auto r = b.start();
        REQUIRE_FALSE(r);
        CAPTURE(r.error().text);
        CHECK(r.error().code == code);
        CHECK(r.error().text.find(part) != std::string::npos);
        const auto w = b.write(1, 1);
        REQUIRE_FALSE(w);
        CHECK(w.error().code == code);
        CHECK(b.acknowledged == 0);
    };
    refuse(std::string("/tmp/a\0b", 8), errc::configuration, "NUL");
    refuse("", errc::configuration, "does not name a file");
    refuse(dir.path() / "", errc::configuration, "does not name a file");
    fs::create_directory(dir.path() / "folder");
    refuse(dir.path() / "folder", errc::io, "folder");
    put(dir.path() / "plain", "x\n");
    refuse(dir.path() / "plain" / "e.jsonl", errc::io, "plain");
    refuse("/dev/null", errc::configuration, "/dev/null is not a regular file");
    REQUIRE(::mkfifo((dir.path() / "pipe").c_str(), 0600) == 0);
    refuse(dir.path() / "pipe", errc::configuration, "not a regular file");
    refuse("/proc/mongocdc/e.jsonl", errc::io, "/proc/mongocdc");
    refuse(dir.path() / std::string(300, 'n'), errc::io, "too long");
}

TEST_CASE("file sink: missing folders are created", "[sinks][file]") {
    test::temp_dir dir;
    const auto path = dir.path() / "a" / "b" / "e.jsonl";
    bench b({path});
    REQUIRE(b.start());
    REQUIRE(b.write(1, 1));
    CHECK(read(path) == line(1));
}

TEST_CASE("file sink: a full disk is terminal, names the path, and leaves whole lines",
          "[sinks][file]") {
    test::temp_dir dir;
    const auto path = dir.path() / "e.jsonl";
    // A limit on file sizes stands for the full disk: the kernel writes a part, then refuses.
    struct size_limit {
        explicit size_limit(rlim_t bytes) {
            before_signal = std::signal(SIGXFSZ, SIG_IGN);
            ::getrlimit(RLIMIT_FSIZE, &before);
            rlimit now = before;
            now.rlim_cur = bytes;
            ::setrlimit(RLIMIT_FSIZE, &now);
        }
        ~size_limit() {
            ::setrlimit(RLIMIT_FSIZE, &before);
            std::signal(SIGXFSZ, before_signal);
        }
        rlimit before{};
        void (*before_signal)(int) = nullptr;
    };
    {
        bench b({path});
        REQUIRE(b.start());
        REQUIRE(b.write(1, 10));
        CHECK(b.acknowledged == 10);
        const size_limit limit(all_lines(1, 15).size() + 7);
        const auto r = b.write(11, 30);
        REQUIRE_FALSE(r);
        CHECK(r.error().code == errc::io);
        CHECK(r.error().text.find(path.string()) != std::string::npos);
        CHECK(r.error().text.find("File too large") != std::string::npos);
        CHECK(b.acknowledged == 10);
        CHECK(read(path) == all_lines(1, 10));
        // Terminal: it does not go on by itself, which would leave a gap.
        const auto again = b.write(31, 31);
        REQUIRE_FALSE(again);
        CHECK(again.error().text == r.error().text);
        CHECK_FALSE(b.flush());
    }
    bench b({path});
    REQUIRE(b.start());
    REQUIRE(b.write(11, 30));
    CHECK(read(path) == all_lines(1, 30));
}
