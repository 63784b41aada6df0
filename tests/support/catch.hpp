// SPDX-License-Identifier: Apache-2.0
// The only file that names a Catch2 header, so that 2.13 and 3.x both work.
#pragma once

#include "core/error/result.hpp"

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

namespace Catch {
/// A failed REQUIRE(result) shows the error.
template <class T>
struct StringMaker<boost::system::result<T, cdc::error::diagnostics>> {
    static std::string convert(const boost::system::result<T, cdc::error::diagnostics>& r) {
        return r ? "ok" : r.error().describe();
    }
};
} // namespace Catch
