// SPDX-License-Identifier: Apache-2.0
#include "core/app/command_line.hpp"
#include "core/app/version.hpp"
#include "tests/support/catch.hpp"

#include <sstream>
#include <string>
#include <vector>

using namespace cdc;
using app::parse_command_line;

namespace {

struct outcome {
    app::any_command command;
    std::string out;
    std::string err;
};

outcome parse(std::vector<const char*> arguments, const char* variable = nullptr) {
    arguments.insert(arguments.begin(), "mongocdc");
    std::ostringstream out, err;
    auto command = parse_command_line(static_cast<int>(arguments.size()), arguments.data(),
                                      variable, out, err);
    return {std::move(command), out.str(), err.str()};
}

log::level level_of(const outcome& parsed, std::string_view component = "x") {
    return std::get<app::run_command>(parsed.command).levels.of(component);
}

} // namespace

TEST_CASE("run takes a configuration and a level", "[app]") {
    const auto parsed = parse({"run", "some/config.yaml"});
    CHECK(std::get<app::run_command>(parsed.command).config == "some/config.yaml");
    CHECK(level_of(parsed) == log::level::info);
    CHECK(level_of(parse({"run", "c", "--log-level", "warn,a=trace"})) == log::level::warn);
    CHECK(level_of(parse({"run", "c", "--log-level", "warn,a=trace"}), "a") == log::level::trace);
    CHECK(level_of(parse({"run", "c"}, "debug")) == log::level::debug);
    CHECK(level_of(parse({"run", "c"}, "")) == log::level::info);
    CHECK(level_of(parse({"run", "c", "--log-level=error"}, "debug")) == log::level::error);
}

TEST_CASE("check takes a configuration and logs only errors", "[app]") {
    const auto parsed = parse({"check", "some/config.yaml"});
    const auto& check = std::get<app::check_command>(parsed.command);
    CHECK(check.config == "some/config.yaml");
    CHECK(check.levels.of("x") == log::level::error);
    const auto louder = parse({"check", "c"}, "debug");
    CHECK(std::get<app::check_command>(louder.command).levels.of("x") == log::level::debug);
}

TEST_CASE("tail takes a URI and little else by default", "[app]") {
    const auto parsed = parse({"tail", "mongodb://h/"});
    const auto& tail = std::get<app::tail_command>(parsed.command);
    CHECK(tail.uri == "mongodb://h/");
    CHECK(tail.options.empty());
    CHECK_FALSE(tail.full);
    CHECK_FALSE(tail.pretty);
    CHECK_FALSE(tail.limit);
    CHECK(tail.levels.of("x") == log::level::warn);
}

TEST_CASE("tail's flags stand for options", "[app]") {
    using options = std::vector<std::pair<std::string, std::string>>;
    const auto options_of = [](std::vector<const char*> arguments) {
        arguments.insert(arguments.begin(), {"tail", "mongodb://h/"});
        return std::get<app::tail_command>(parse(std::move(arguments)).command).options;
    };
    CHECK(options_of({"--db", "shop"}) ==
          options{{"capture.scope", "database"}, {"capture.target", "shop"}});
    CHECK(options_of({"--collection", "shop.orders"}) ==
          options{{"capture.scope", "collection"}, {"capture.target", "shop.orders"}});
    CHECK(options_of({"--capture-mode", "change_streams"}) ==
          options{{"capture.mode", "change_streams"}});
    CHECK(options_of({"--database-include", "a,b", "--database-include", "c"}) ==
          options{{"database.include.list", "a,b,c"}});
    CHECK(options_of({"--database-exclude=a", "--collection-include=a.b", "--collection-exclude",
                      "c.d"}) == options{{"database.exclude.list", "a"},
                                         {"collection.include.list", "a.b"},
                                         {"collection.exclude.list", "c.d"}});
    const auto parsed = parse({"tail", "--full", "--pretty", "--limit", "7", "mongodb://h/"});
    const auto& tail = std::get<app::tail_command>(parsed.command);
    CHECK(tail.uri == "mongodb://h/");
    CHECK(tail.full);
    CHECK(tail.pretty);
    CHECK(tail.limit == 7);
}

TEST_CASE("complaints about arguments show no password", "[app]") {
    const char* uri = "mongodb://user:geheim@h/";
    for (const auto& arguments :
         {std::vector<const char*>{"tail", "mongodb://h/", uri}, {"run", "c", uri}, {uri}}) {
        const auto parsed = parse(arguments);
        CHECK(std::get<app::finished>(parsed.command).code == 2);
        CHECK_FALSE(parsed.err.empty());
        CHECK(parsed.err.find("geheim") == std::string::npos);
    }
}

TEST_CASE("options has two forms", "[app]") {
    CHECK_FALSE(std::get<app::options_command>(parse({"options"}).command).markdown);
    CHECK(std::get<app::options_command>(parse({"options", "--markdown"}).command).markdown);
}

TEST_CASE("help and version end well", "[app]") {
    const auto version = parse({"--version"});
    CHECK(std::get<app::finished>(version.command).code == 0);
    CHECK(version.out == "mongocdc " + std::string(app::version()) + "\n");
    CHECK(version.err.empty());
    const auto help = parse({"--help"});
    CHECK(std::get<app::finished>(help.command).code == 0);
    for (const char* part : {"run", "check", "tail", "options", "--version", "0  stopped cleanly",
                             "1  internal error", "2  the command line or the configuration",
                             "3  every connector failed", "4  check: something would not work"})
        CHECK(help.out.find(part) != std::string::npos);
    CHECK(std::get<app::finished>(parse({"run", "--help"}).command).code == 0);
}

TEST_CASE("a wrong command line ends with 2 and says why", "[app]") {
    const std::vector<const char*> arguments = GENERATE(
        as<std::vector<const char*>>{}, std::vector<const char*>{}, std::vector<const char*>{"rum"},
        std::vector<const char*>{"run"}, std::vector<const char*>{"run", "a", "b"},
        std::vector<const char*>{"run", "a", "--nonsense"},
        std::vector<const char*>{"run", "a", "--log-level", "loud"},
        std::vector<const char*>{"check"}, std::vector<const char*>{"tail"},
        std::vector<const char*>{"tail", "mongodb://h/", "--limit", "0"},
        std::vector<const char*>{"tail", "mongodb://h/", "--limit", "some"},
        std::vector<const char*>{"tail", "mongodb://h/", "--db", "a", "--collection", "a.b"},
        std::vector<const char*>{"options", "--html"}, std::vector<const char*>{"--nonsense"});
    const auto parsed = parse(arguments);
    REQUIRE(std::holds_alternative<app::finished>(parsed.command));
    CHECK(std::get<app::finished>(parsed.command).code == 2);
    CHECK_FALSE(parsed.err.empty());
}

TEST_CASE("a wrong level in the environment names the variable", "[app]") {
    const auto parsed = parse({"run", "a"}, "loud");
    CHECK(std::get<app::finished>(parsed.command).code == 2);
    CHECK(parsed.err.find("MONGOCDC_LOG") == 0);
    CHECK(std::holds_alternative<app::options_command>(parse({"options"}, "loud").command));
}
