// SPDX-License-Identifier: Apache-2.0
#include "core/log/set_up.hpp"
#include "tests/support/catch.hpp"

#include <cstdio>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <vector>

using namespace cdc::log;

namespace {

/// A stream that can be read back.
struct memory_file {
    char* data = nullptr;
    std::size_t size = 0;
    std::FILE* file = open_memstream(&data, &size);
    ~memory_file() {
        std::fclose(file);
        std::free(data);
    }
    std::string text() const {
        std::fflush(file);
        return {data, size};
    }
};

} // namespace

TEST_CASE("levels are read from text", "[log]") {
    const auto plain = levels::parse("warn");
    REQUIRE(plain);
    CHECK(plain->of("any") == level::warn);
    const auto mixed = levels::parse("info,mongodb=debug,mongodb.cursor=trace,sink=error");
    REQUIRE(mixed);
    CHECK(mixed->of("any") == level::info);
    CHECK(mixed->of("mongodb") == level::debug);
    CHECK(mixed->of("mongodb.client") == level::debug);
    CHECK(mixed->of("mongodb/rs0") == level::debug);
    CHECK(mixed->of("mongodbx") == level::info);
    CHECK(mixed->of("mongodb.cursor.deep") == level::trace);
    CHECK(mixed->enabled("sink.file", level::error));
    CHECK_FALSE(mixed->enabled("sink.file", level::warn));
    CHECK(levels::parse("a=debug")->of("b") == level::info);
    for (const char* wrong : {"", "loud", "info,", "a=", "=info", "info,a=loud", "INFO"})
        CHECK_FALSE(levels::parse(wrong));
}

TEST_CASE("a message is one line with time, level, component and no secret", "[log]") {
    memory_file out;
    auto hidden = std::make_shared<redactor>();
    const logger root(make_backend(*levels::parse("info,quiet=error"), hidden, out.file),
                      "service");
    hidden->hide("hunter22"); // also after the backend was made
    root.info("started with {}", "hunter22");
    root.debug("not written");
    root.named("quiet").warn("not written");
    root.named("a.b").error("two\nlines \x1b[31m at mongodb://u:p@h/");
    const std::string text = out.text();
    CHECK(std::regex_match(
        text,
        std::regex("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z info service: "
                   "started with \\*\\*\\*\n"
                   "[^ ]+Z error a\\.b: two\\\\nlines \\\\x1b\\[31m at mongodb://\\*\\*\\*@h/\n")));
}

TEST_CASE("lines of several threads do not mix", "[log]") {
    memory_file out;
    const logger to(make_backend({}, std::make_shared<redactor>(), out.file), "c");
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&to] {
            for (int i = 0; i < 200; ++i)
                to.info("{}", std::string(100, 'x'));
        });
    }
    for (auto& thread : threads)
        thread.join();
    const std::string text = out.text();
    std::size_t lines = 0;
    for (std::size_t from = 0, end; (end = text.find('\n', from)) != std::string::npos;
         from = end + 1, ++lines) {
        const std::string line = text.substr(from, end - from);
        if (line.size() != 24 + 9 + 100)
            FAIL("a line of " << line.size() << " bytes: " << line);
    }
    CHECK(lines == 800);
}
