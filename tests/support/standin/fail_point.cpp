// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/fail_point.hpp"

#include <algorithm>

namespace cdc::test::standin {

namespace {

/// One name for the spellings of one command.
std::string_view canonical(std::string_view name) {
    if (name == "isMaster" || name == "ismaster")
        return "hello";
    return name == "buildinfo" ? "buildInfo" : name;
}

} // namespace

void fail_point::set(command_fault fault) {
    fault_ = std::move(fault);
    ++generation_;
}

void fail_point::end() {
    fault_.reset();
    ++generation_;
}

std::optional<command_fault> fail_point::meet(std::string_view command, std::string_view app_name) {
    if (!fault_ || command == "configureFailPoint")
        return std::nullopt;
    const bool named = std::ranges::any_of(fault_->commands, [&](const std::string& name) {
        return canonical(name) == canonical(command);
    });
    if (!named || (!fault_->app_name.empty() && fault_->app_name != app_name))
        return std::nullopt;
    if (fault_->skip > 0) {
        --fault_->skip;
        return std::nullopt;
    }
    if (fault_->times && *fault_->times == 0)
        return std::nullopt;
    if (fault_->times)
        --*fault_->times;
    ++met_;
    return fault_;
}

} // namespace cdc::test::standin
