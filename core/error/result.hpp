// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/diagnostics.hpp"

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace cdc::error {

/// Value or diagnostics. Errors on the data path travel as values; `value()` on an error is a bug
/// and throws std::logic_error.
template <class T>
using result = boost::system::result<T, diagnostics>;

[[noreturn]] inline void throw_exception_from_error(const diagnostics& d,
                                                    const boost::source_location&) {
    throw std::logic_error("value() of a failed result: " + d.describe());
}

/// Shorthand for a failure without a server's answer.
inline diagnostics fail(errc code, std::string text) {
    diagnostics d;
    d.code = code;
    d.text = std::move(text);
    return d;
}

} // namespace cdc::error
