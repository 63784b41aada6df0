// SPDX-License-Identifier: Apache-2.0
#include "core/log/redactor.hpp"
#include "tests/support/catch.hpp"

#include <string>

using cdc::log::redactor;

TEST_CASE("secrets are hidden in every spelling", "[log]") {
    redactor hidden;
    hidden.hide("p@ss/w:rd");
    hidden.hide("quo\"te\\d");
    hidden.hide("hunter22");
    hidden.hide("hunter22-longer");
    hidden.hide("abc"); // too short to look for
    const auto [text, wanted] = GENERATE(table<std::string, std::string>({
        {"nothing here, abc", "nothing here, abc"},
        {"x p@ss/w:rd y", "x *** y"},
        {"x p%40ss%2Fw%3Ard y", "x *** y"},
        {"x p%40ss%2fw%3ard y", "x *** y"},
        {"x p%40ss/w:rd y p@ss/w%3Ard", "x *** y ***"},
        {"%70%40%73%73%2F%77%3A%72%64", "***"},
        {"hunter22hunter22", "******"},
        {"hunter22-longer", "***"},
        {"{\"a\":\"quo\\\"te\\\\d\"}", "{\"a\":\"***\"}"},
        {"100% of hunter22 at 50%", "100% of *** at 50%"},
        {"%zz %4 %", "%zz %4 %"},
    }));
    CAPTURE(text);
    CHECK(hidden.clean(text) == wanted);
}

TEST_CASE("the user information of every connection string is hidden", "[log]") {
    const redactor hidden;
    const auto [text, wanted] = GENERATE(table<std::string, std::string>({
        {"to mongodb://u:p@h:1/?x=y failed", "to mongodb://***@h:1/?x=y failed"},
        {"mongodb+srv://u:p@h", "mongodb+srv://***@h"},
        {"MongoDB://u:p@h", "MongoDB://***@h"},
        {"mongodb://u:p@ss@h/", "mongodb://***@h/"},
        {"mongodb://u:p/ss@h/", "mongodb://***@h/"},
        {"\"mongodb://u:p@h\" \"mongodb://v:q@i\"", "\"mongodb://***@h\" \"mongodb://***@i\""},
        {"mongodb://h1,h2/db and u@h", "mongodb://h1,h2/db and u@h"},
        {"mongodb://", "mongodb://"},
    }));
    CAPTURE(text);
    CHECK(hidden.clean(text) == wanted);
}

TEST_CASE("a connection string hides its password and not its hosts", "[log]") {
    const auto [uri, text, wanted] = GENERATE(table<std::string, std::string, std::string>({
        {"mongodb://user:p%40ssword@host:1/?a=b", "p@ssword host user", "*** host user"},
        {"mongodb://user:p%40ssword@host:1/?a=b", "p%40ssword", "***"},
        {"mongodb://user:p@ssword@host/", "p@ssword", "***"},
        {"mongodb+srv://user:password1@host/db", "password1", "***"},
        {"mongodb://host/?tlsCertificateKeyFilePassword=key%21word&x=yyyy", "key!word yyyy",
         "*** yyyy"},
        {"mongodb://host/?authMechanismProperties=AWS_SESSION_TOKEN:toktok",
         "AWS_SESSION_TOKEN:toktok", "***"},
        {"mongodb://host:27017/", "27017", "27017"},
    }));
    redactor hidden;
    hidden.hide(uri);
    CAPTURE(uri);
    CHECK(hidden.clean(text) == wanted);
}
