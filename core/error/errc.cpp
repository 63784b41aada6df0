// SPDX-License-Identifier: Apache-2.0
#include "core/error/errc.hpp"

namespace cdc::error {

std::string_view name(errc code) noexcept {
    switch (code) {
    case errc::cancelled:
        return "cancelled";
    case errc::timeout:
        return "timeout";
    case errc::network:
        return "network";
    case errc::server:
        return "server";
    case errc::protocol:
        return "protocol";
    case errc::authentication:
        return "authentication";
    case errc::configuration:
        return "configuration";
    case errc::bad_data:
        return "bad_data";
    case errc::position_lost:
        return "position_lost";
    case errc::io:
        return "io";
    case errc::state_locked:
        return "state_locked";
    case errc::state_invalid:
        return "state_invalid";
    case errc::unsupported:
        return "unsupported";
    case errc::closed:
        return "closed";
    case errc::internal:
        return "internal";
    }
    return "unknown";
}

} // namespace cdc::error
