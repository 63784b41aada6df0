// SPDX-License-Identifier: Apache-2.0
#include "core/config/substitution.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_data.hpp"

#include <sys/stat.h>

#include <fstream>
#include <string>

using namespace cdc::config;

namespace {

const environment variables = [](const std::string& name) -> std::optional<std::string> {
    if (name == "NAME")
        return "value";
    if (name == "EMPTY")
        return "";
    if (name == "ROUND")
        return "${env:NAME}";
    return std::nullopt;
};

struct folder : cdc::test::temp_dir {
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path() / name, std::ios::binary) << text;
    }
};

raw_value scalar(std::string text) {
    raw_value raw;
    raw.kind = raw_value::kind_t::scalar;
    raw.text = raw.written = std::move(text);
    return raw;
}

} // namespace

TEST_CASE("references are replaced", "[config]") {
    folder dir;
    dir.write("one", "contents\n");
    dir.write("two", "a\nb\n\n");
    dir.write("dos", "contents\r\n");
    dir.write("bare", "contents");
    dir.write("empty", "");
    dir.write("round", "${env:NAME}");
    const auto [text, wanted, put_in] = GENERATE(table<std::string, std::string, bool>({
        {"plain", "plain", false},
        {"${env:NAME}", "value", true},
        {"a-${env:NAME}-${env:NAME}-b", "a-value-value-b", true},
        {"${env:EMPTY}", "", true},
        {"${env:ROUND}", "${env:NAME}", true}, // no second round
        {"${file:round}", "${env:NAME}", true},
        {"${file:one}", "contents", true},
        {"${file:./two}", "a\nb\n", true},
        {"${file:dos}", "contents", true},
        {"${file:bare}", "contents", true},
        {"${file:empty}", "", true},
        {"x${file:one}${env:NAME}", "xcontentsvalue", true},
        {"$${env:NAME}", "${env:NAME}", false},
        {"$$${env:NAME}", "$${env:NAME}", false},
        {"$${${env:NAME}", "${value", true},
        {"^a$|$b$$", "^a$|$b$$", false},
        {"{$}", "{$}", false},
    }));
    CAPTURE(text);
    auto raw = scalar(text);
    CHECK(substitute(raw, dir.path(), variables).empty());
    CHECK(raw.text == wanted);
    CHECK(raw.written == text);
    CHECK(raw.substituted == put_in);
}

TEST_CASE("items of sequences are replaced one by one", "[config]") {
    raw_value raw;
    raw.kind = raw_value::kind_t::list;
    raw.items = {"a", "${env:NAME}"};
    CHECK(substitute(raw, "/", variables).empty());
    CHECK(raw.items == std::vector<std::string>{"a", "value"});
    CHECK(raw.substituted);
}

TEST_CASE("references that cannot be replaced say why", "[config]") {
    folder dir;
    dir.write("large", std::string((1 << 20) + 1, 'x'));
    REQUIRE(mkfifo((dir.path() / "pipe").c_str(), 0600) == 0);
    const auto [text, wanted] = GENERATE(table<std::string, std::string>({
        {"${env:MISSING}", "refers to the environment variable MISSING, which is not set"},
        {"${file:missing}", "refers to the file missing, which is not there"},
        {"${file:.}", "refers to the file ., which is not a regular file"},
        {"${file:pipe}", "refers to the file pipe, which is not a regular file"},
        {"${file:large}", "refers to the file large, which is larger than 1 MiB"},
        {"${env:NAME", "holds a ${ without its }; write $${ for a plain ${"},
        {"${NAME}", "holds a reference other than ${env:NAME} and ${file:PATH}; write $${ for a "
                    "plain ${"},
        {"${vault:x}", "holds a reference other than ${env:NAME} and ${file:PATH}; write $${ for a "
                       "plain ${"},
    }));
    auto raw = scalar(text);
    CHECK(substitute(raw, dir.path(), variables) == wanted);
}

TEST_CASE("the largest file is read whole", "[config]") {
    folder dir;
    dir.write("large", std::string(1 << 20, 'x'));
    auto raw = scalar("${file:large}");
    CHECK(substitute(raw, dir.path(), variables).empty());
    CHECK(raw.text.size() == std::size_t{1} << 20);
}
