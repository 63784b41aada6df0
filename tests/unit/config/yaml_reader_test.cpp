// SPDX-License-Identifier: Apache-2.0
#include "core/config/yaml_reader.hpp"
#include "tests/support/catch.hpp"

#include <chrono>
#include <string>
#include <vector>

using namespace cdc::config;

namespace {

/// "key=text" of scalars, "key=[a|b]" of lists, "key={}" and "key=" of empty things.
std::vector<std::string> flat(const std::string& text) {
    report found;
    std::vector<std::string> out;
    for (const auto& [key, raw] : read_yaml(text, found)) {
        std::string value = raw.text;
        if (raw.kind == raw_value::kind_t::map)
            value = "{}";
        if (raw.kind == raw_value::kind_t::list) {
            value = "[";
            for (const auto& item : raw.items)
                value += (value.size() > 1 ? "|" : "") + item;
            value += "]";
        }
        out.push_back(key + "=" + value);
    }
    for (const auto& m : found.mistakes())
        FAIL_CHECK(m.text());
    return out;
}

std::vector<std::string> problems(const std::string& text) {
    report found;
    read_yaml(text, found);
    std::vector<std::string> out;
    for (const auto& m : found.mistakes())
        out.push_back(std::to_string(m.line) + " " + m.text());
    return out;
}

using strings = std::vector<std::string>;

} // namespace

TEST_CASE("dotted keys and nesting are the same", "[config]") {
    const strings wanted = {"a.b.c=1", "a.b.d=2"};
    CHECK(flat("a.b.c: 1\na.b.d: 2") == wanted);
    CHECK(flat("a:\n  b:\n    c: 1\n    d: 2") == wanted);
    CHECK(flat("a.b: {c: 1}\na: {b.d: 2}") == wanted);
    CHECK(flat("a.b.c: 1\na: {b: {d: 2}}") == wanted);
    CHECK(flat("a.b: 1\na.b.c: 2") == strings{"a.b=1", "a.b.c=2"});
}

TEST_CASE("scalars stay the text that was written", "[config]") {
    CHECK(flat("a: on\nb: 1e3\nc: '1'\nd: \"x y\"\ne: 010\nf: ~\ng:\nh: {}\ni: [1, ' b']") ==
          strings{"a=on", "b=1e3", "c=1", "d=x y", "e=010", "f=", "g=", "h={}", "i=[1| b]"});
    CHECK(flat("a: 'null'\nb: mongodb://h:1/?x=y#z") ==
          strings{"a=null", "b=mongodb://h:1/?x=y#z"});
}

TEST_CASE("JSON is read", "[config]") {
    CHECK(flat(R"({"a":{"b":1,"c":"x\"\\\/\u00e9"},"d":[ "e" , 2 ],"f":true})") ==
          strings{"a.b=1", "a.c=x\"\\/é", "d=[e|2]", "f=true"});
    CHECK(flat("{\n\t\"a\": 1,\n\t\"b\": {\n\t\t\"c\": 2\n\t}\n}\n") == strings{"a=1", "b.c=2"});
}

TEST_CASE("aliases share what they name", "[config]") {
    CHECK(flat("a: &x {b: 1}\nc: *x") == strings{"a.b=1", "c.b=1"});
}

TEST_CASE("nothing in the file is nothing", "[config]") {
    CHECK(flat("").empty());
    CHECK(flat("# a comment\n").empty());
    CHECK(flat("---\n").empty());
}

TEST_CASE("what is wrong with the text has its line and never the values", "[config]") {
    const auto [text, wanted] = GENERATE(table<std::string, std::string>({
        {"a: 1\na: 2", "2 a: is given twice in one mapping"},
        {"a: {x: 1}\na: {y: 2}", "2 a: is given twice in one mapping"},
        {"a.b: 1\na: {b: 2}",
         "2 a.b: is given twice, first in line 1 (dotted and nested keys are the same)"},
        {"[1, 2]", "1 is not a mapping of keys to values"},
        {"secret", "1 is not a mapping of keys to values"},
        {"a: 1\n---\nb: 2", "3 holds more than one YAML document"},
        {"x: [1, {y: 2}]", "1 x: holds an item that is not a text"},
        {"x: [1, [2]]", "1 x: holds an item that is not a text"},
        {"x:\n  ? [a, b]\n  : 1", "2 x: has a key that is not a text"},
        {"'': 1", "1 has a key that is not a text"},
        {"a: &x {b: *x}", "1 an alias refers to what it is part of"},
        {"a: \"secret", "1 is not valid YAML"},
        {"a: secret: more", "1 is not valid YAML"},
        {"a: \"sec\\qret\"", "1 is not valid YAML"},
        {"a: {secret", "1 is not valid YAML"},
        {"a: *secret", "1 is not valid YAML"},
        {"\tsecret: 1\n  - x", "1 is not valid YAML"},
        {std::string("a: \0b", 5), "0 is not a text file (UTF-8)"},
        {"a: \xff\xfe", "0 is not a text file (UTF-8)"},
    }));
    CAPTURE(text);
    const auto found = problems(text);
    REQUIRE(found.size() == 1);
    CHECK(found[0].substr(0, wanted.size()) == wanted);
    CHECK(found[0].find("secret") == std::string::npos);
}

TEST_CASE("a blank missing after a colon does not show the password", "[config]") {
    const auto found = problems("{mongodb.password:hunter22, mongodb.password:hunter22}");
    REQUIRE(found.size() == 1);
    CHECK(found[0] == "1 mongodb.password...: is given twice in one mapping");
}

TEST_CASE("hostile texts end soon", "[config]") {
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; ++i) {
        const std::string last = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " {";
        for (int k = 0; k < 10; ++k)
            bomb += "k" + std::to_string(k) + ": " + last + ", ";
        bomb += "}\n";
    }
    std::string chain = "a0: &a0 {x: 1}\n";
    for (int i = 1; i < 5000; ++i)
        chain += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " {x: *a" +
                 std::to_string(i - 1) + "}\n";
    std::string names;
    for (int i = 0; names.size() < 1000000; ++i)
        names += "k" + std::to_string(i) + ":\n";
    const auto repeated = [](const std::string& part) {
        std::string out;
        while (out.size() < 1000000)
            out += part;
        return out;
    };
    struct hostile {
        std::string text;
        std::string problem; ///< empty: none
    };
    const hostile cases[] = {
        {bomb, "holds more than 100000 values"},
        {chain, "is nested deeper than 64 levels"},
        {names, "holds more than 100000 values"},
        {repeated("["), "is nested deeper than 64 levels"},
        {repeated("{"), "is nested deeper than 64 levels"},
        {repeated("- "), "is nested deeper than 64 levels"},
        {repeated("? "), "is nested deeper than 64 levels"},
        {"a: " + repeated("{a: "), "is nested deeper than 64 levels"},
        {repeated("k") + ": {a: 1}", "is not valid YAML"},
        {"? " + repeated("k") + "\n: {a: 1}", "kkk...: is too long for a key"},
        {"a: " + repeated("-"), ""},
        {"a: |\n" + repeated(" \n"), ""},
    };
    for (const auto& [text, problem] : cases) {
        CAPTURE(text.substr(0, 40));
        report found;
        const auto begin = std::chrono::steady_clock::now();
        read_yaml(text, found);
        CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
        CHECK(found.mistakes().empty() == problem.empty());
        for (const auto& m : found.mistakes()) {
            CHECK(m.text().find(problem) != std::string::npos);
            CHECK(m.text().size() < 400);
        }
    }
}
