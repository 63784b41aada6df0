// SPDX-License-Identifier: Apache-2.0
#include "core/app/version.hpp"

namespace cdc::app {

std::string_view version() noexcept {
    return MONGOCDC_VERSION;
}

} // namespace cdc::app
