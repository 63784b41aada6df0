// SPDX-License-Identifier: Apache-2.0
// configureFailPoint, of the one fail point that there is: failCommand.
#include "tests/support/standin/command.hpp"
#include "tests/support/standin/server_error.hpp"

namespace cdc::test::standin {

namespace {

void run_configure(command_call& call, bson::builder& reply) {
    require_admin(call);
    if (call.text(call.name) != "failCommand")
        throw server_error(code::bad_value,
                           "this stand-in has no fail point '" + call.text(call.name) + "'");
    const auto mode = call.field("mode");
    if (!mode)
        throw server_error(code::bad_value, "Missing required field: mode");
    const auto count = call.self.faults.met();
    if (auto fault = command_fault::parse(*mode, call.document("data")))
        call.self.faults.set(std::move(*fault));
    else
        call.self.faults.end();
    call.server.wake_all();
    reply.int32("count", static_cast<std::int32_t>(count));
}

} // namespace

void register_fail_point(std::map<std::string, command_spec>& table) {
    table["configureFailPoint"] = {
        access::authenticated, run_configure, nullptr, {"mode", "data"}, false};
}

} // namespace cdc::test::standin
