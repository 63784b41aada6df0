// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/command_fault.hpp"

#include "tests/support/standin/server_error.hpp"

namespace cdc::test::standin {

namespace {

server_error bad(const std::string& text) {
    return {code::bad_value, text};
}

std::size_t count_of(const bson::cursor& c) {
    const auto n = c.as_integer();
    if (!n || *n < 0)
        throw bad("'" + std::string(c.name()) + "' option to 'mode' must be positive");
    return static_cast<std::size_t>(*n);
}

/// False when the mode is "off".
bool read_mode(const bson::cursor& mode, command_fault& out) {
    if (mode.kind() == bson::type::string) {
        if (mode.as_string() == "off")
            return false;
        if (mode.as_string() != "alwaysOn")
            throw bad("unknown mode: " + std::string(mode.as_string()));
        return true;
    }
    if (mode.kind() != bson::type::document)
        throw server_error(code::type_mismatch,
                           "'mode' must be a string or JSON object, not another type");
    bson::cursor m{mode.as_document()};
    if (!m.next() || (m.name() != "times" && m.name() != "skip"))
        throw bad("'mode' must be one of 'times', 'skip', \"alwaysOn\" or \"off\"");
    if (m.name() == "times")
        out.times = count_of(m);
    else
        out.skip = count_of(m);
    if (m.next())
        throw bad("'mode' must have one option only");
    return true;
}

std::vector<std::string> strings(const bson::cursor& list) {
    std::vector<std::string> out;
    if (list.kind() != bson::type::array)
        throw bad("'" + std::string(list.name()) + "' must be an array");
    for (bson::cursor c{list.as_document()}; c.next();) {
        if (c.kind() != bson::type::string)
            throw bad("'" + std::string(list.name()) + "' must hold strings");
        out.emplace_back(c.as_string());
    }
    return out;
}

std::string string_of(const bson::cursor& c) {
    if (c.kind() != bson::type::string)
        throw bad("'" + std::string(c.name()) + "' must be a string");
    return std::string(c.as_string());
}

} // namespace

std::optional<command_fault> command_fault::parse(const bson::cursor& mode, bson::view data) {
    command_fault out;
    if (!read_mode(mode, out))
        return std::nullopt;
    for (bson::cursor c{data}; c.next();) {
        if (c.name() == "failCommands")
            out.commands = strings(c);
        else if (c.name() == "errorCode")
            out.error_code = static_cast<int>(c.as_integer().value_or(0));
        else if (c.name() == "errorLabels")
            out.labels = strings(c);
        else if (c.name() == "closeConnection")
            out.close_connection = c.truthy();
        else if (c.name() == "blockTimeMS")
            out.block = std::chrono::milliseconds(c.as_integer().value_or(0));
        else if (c.name() == "appName")
            out.app_name = string_of(c);
        else if (c.name() == "standInHold")
            out.hold = c.truthy();
        else if (c.name() == "standInMessage")
            out.message = string_of(c);
        else if (c.name() != "blockConnection")
            throw bad("this stand-in's failCommand has no '" + std::string(c.name()) + "'");
    }
    const auto blocks = bson::find(data, "blockConnection");
    if (blocks && blocks->truthy() && !bson::find(data, "blockTimeMS"))
        throw bad("must specify 'blockTimeMS' when 'blockConnection' is true");
    if (!blocks || !blocks->truthy())
        out.block = std::chrono::milliseconds(0);
    if (out.error_code == 0)
        out.error_code.reset();
    return out;
}

} // namespace cdc::test::standin
