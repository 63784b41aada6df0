// SPDX-License-Identifier: Apache-2.0
#include "core/app/check_report.hpp"
#include "tests/support/catch.hpp"

#include <memory>
#include <sstream>

using namespace cdc;
using app::verdict;

TEST_CASE("a check's items are lines in columns", "[app][check]") {
    std::ostringstream out;
    app::check_report report(out, 9, std::make_shared<log::redactor>());
    report.add(verdict::ok, "a.connect", "h:1");
    report.add(verdict::warn, "state", "in use");
    CHECK_FALSE(report.failed());
    report.add(verdict::fail, "a.x", "no");
    report.add(verdict::ok, "a.longer.than", "told");
    CHECK(report.failed());
    CHECK(out.str() == "ok    a.connect  h:1\n"
                       "warn  state      in use\n"
                       "fail  a.x        no\n"
                       "ok    a.longer.than  told\n");
}

TEST_CASE("a check shows no secret and no line of somebody else's", "[app][check]") {
    std::ostringstream out;
    auto hidden = std::make_shared<log::redactor>();
    hidden->hide("geheim");
    app::check_report report(out, 1, hidden);
    report.add(verdict::fail, "a", "bad geheim\nok    a  forged\x1b[2J");
    CHECK(out.str() == "fail  a  bad ***\\x0aok    a  forged\\x1b[2J\n");
}
