// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/arithmetic.hpp"

#include "tests/support/standin/describe.hpp"
#include "tests/support/standin/server_error.hpp"

#include <limits>

namespace cdc::test::standin {

namespace {

double as_double(const bson::cursor& c) {
    switch (c.kind()) {
    case bson::type::int32:
        return c.as_int32();
    case bson::type::int64:
        return static_cast<double>(c.as_int64());
    default:
        return c.as_double();
    }
}

std::int64_t as_int64(const bson::cursor& c) {
    return c.kind() == bson::type::int32 ? c.as_int32() : c.as_int64();
}

template <class OnDoubles, class OnIntegers>
value calculate(const value& a, const value& b, std::string_view name, OnDoubles on_doubles,
                OnIntegers on_integers) {
    const element left(a);
    const element right(b);
    const bson::cursor l = left.cursor();
    const bson::cursor r = right.cursor();
    if (l.kind() == bson::type::decimal128 || r.kind() == bson::type::decimal128)
        throw server_error(code::bad_value, "this stand-in does not calculate with decimals (" +
                                                std::string(name) + ")");
    if (l.kind() == bson::type::double_ || r.kind() == bson::type::double_)
        return value::of_double(on_doubles(as_double(l), as_double(r)));
    std::int64_t out = 0;
    if (on_integers(as_int64(l), as_int64(r), &out))
        throw server_error(code::bad_value, "Failed to apply " + std::string(name) +
                                                " operations to current value (" + describe(l) +
                                                ")");
    const bool fits = out >= std::numeric_limits<std::int32_t>::min() &&
                      out <= std::numeric_limits<std::int32_t>::max();
    if (l.kind() == bson::type::int32 && r.kind() == bson::type::int32 && fits)
        return value::of_int32(static_cast<std::int32_t>(out));
    return value::of_int64(out);
}

} // namespace

bool is_number(bson::type kind) noexcept {
    return kind == bson::type::int32 || kind == bson::type::int64 || kind == bson::type::double_ ||
           kind == bson::type::decimal128;
}

value add(const value& a, const value& b) {
    return calculate(
        a, b, "$inc", [](double x, double y) { return x + y; },
        [](std::int64_t x, std::int64_t y, std::int64_t* out) {
            return __builtin_add_overflow(x, y, out);
        });
}

value multiply(const value& a, const value& b) {
    return calculate(
        a, b, "$mul", [](double x, double y) { return x * y; },
        [](std::int64_t x, std::int64_t y, std::int64_t* out) {
            return __builtin_mul_overflow(x, y, out);
        });
}

} // namespace cdc::test::standin
