// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/cursor/oversize_policy.hpp"

namespace cdc::mongodb::cursor {

oversize_policy::step oversize_policy::on_too_large() noexcept {
    if (!singly_) {
        singly_ = true;
        return step::read_singly;
    }
    return mode_ == oversize_mode::skip ? step::pass_by : step::attempt;
}

} // namespace cdc::mongodb::cursor
