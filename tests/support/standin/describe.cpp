// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/describe.hpp"

#include <bson/bson.h>
#include <fmt/format.h>

#include <cmath>

namespace cdc::test::standin {

namespace {

std::string hex(std::span<const std::uint8_t> bytes, bool upper) {
    std::string out;
    for (const auto b : bytes)
        out += upper ? fmt::format("{:02X}", b) : fmt::format("{:02x}", b);
    return out;
}

std::string describe_array(bson::view array) {
    if (array.empty())
        return "[]";
    std::string out = "[ ";
    for (bson::cursor c{array}; c.next();) {
        if (out.size() > 2)
            out += ", ";
        out += describe(c);
    }
    return out + " ]";
}

std::string describe_double(double v) {
    if (std::isnan(v))
        return "nan.0";
    if (std::isinf(v))
        return v < 0 ? "-inf.0" : "inf.0";
    std::string out = fmt::format("{:.16g}", v);
    if (out.find_first_of(".e") == std::string::npos)
        out += ".0";
    return out;
}

} // namespace

std::string uuid_text(std::span<const std::uint8_t> b) {
    const std::string h = hex(b, false);
    if (h.size() != 32)
        return h;
    return h.substr(0, 8) + "-" + h.substr(8, 4) + "-" + h.substr(12, 4) + "-" + h.substr(16, 4) +
           "-" + h.substr(20);
}

std::string describe(bson::view doc) {
    if (doc.empty())
        return "{}";
    std::string out = "{ ";
    for (bson::cursor c{doc}; c.next();) {
        if (out.size() > 2)
            out += ", ";
        out.append(c.name()).append(": ").append(describe(c));
    }
    return out + " }";
}

std::string describe(const bson::cursor& c) {
    switch (c.kind()) {
    case bson::type::double_:
        return describe_double(c.as_double());
    case bson::type::string:
    case bson::type::symbol:
        return "\"" + std::string(c.as_string()) + "\"";
    case bson::type::code:
        return std::string(c.as_string());
    case bson::type::document:
        return describe(c.as_document());
    case bson::type::array:
        return describe_array(c.as_document());
    case bson::type::binary: {
        const auto v = c.as_binary();
        if (v.subtype == 4 && v.bytes.size() == 16)
            return "UUID(\"" + uuid_text(v.bytes) + "\")";
        return fmt::format("BinData({}, {})", v.subtype, hex(v.bytes, true));
    }
    case bson::type::undefined:
        return "undefined";
    case bson::type::oid:
        return "ObjectId('" + hex(c.as_oid(), false) + "')";
    case bson::type::boolean:
        return c.as_bool() ? "true" : "false";
    case bson::type::date:
        return fmt::format("new Date({})", c.as_date_ms());
    case bson::type::null:
        return "null";
    case bson::type::regex:
        return fmt::format("/{}/{}", c.as_regex().pattern, c.as_regex().options);
    case bson::type::db_pointer:
        return fmt::format("DBRef('{}', {})", c.as_db_pointer().ns,
                           hex(c.as_db_pointer().id, false));
    case bson::type::code_with_scope:
        return fmt::format("CodeWScope({}, {})", c.as_code_with_scope().code,
                           describe(c.as_code_with_scope().scope));
    case bson::type::int32:
        return std::to_string(c.as_int32());
    case bson::type::int64:
        return std::to_string(c.as_int64());
    case bson::type::timestamp:
        return fmt::format("Timestamp({}, {})", c.as_timestamp().t, c.as_timestamp().i);
    case bson::type::decimal128: {
        bson_decimal128_t d;
        d.low = c.as_decimal128().low;
        d.high = c.as_decimal128().high;
        char text[BSON_DECIMAL128_STRING];
        bson_decimal128_to_string(&d, text);
        return fmt::format("NumberDecimal(\"{}\")", text);
    }
    case bson::type::min_key:
        return "MinKey";
    case bson::type::max_key:
        return "MaxKey";
    }
    return "?";
}

std::string_view type_name(bson::type kind) noexcept {
    switch (kind) {
    case bson::type::double_:
        return "double";
    case bson::type::string:
        return "string";
    case bson::type::document:
        return "object";
    case bson::type::array:
        return "array";
    case bson::type::binary:
        return "binData";
    case bson::type::undefined:
        return "undefined";
    case bson::type::oid:
        return "objectId";
    case bson::type::boolean:
        return "bool";
    case bson::type::date:
        return "date";
    case bson::type::null:
        return "null";
    case bson::type::regex:
        return "regex";
    case bson::type::db_pointer:
        return "dbPointer";
    case bson::type::code:
        return "javascript";
    case bson::type::symbol:
        return "symbol";
    case bson::type::code_with_scope:
        return "javascriptWithScope";
    case bson::type::int32:
        return "int";
    case bson::type::timestamp:
        return "timestamp";
    case bson::type::int64:
        return "long";
    case bson::type::decimal128:
        return "decimal";
    case bson::type::max_key:
        return "maxKey";
    case bson::type::min_key:
        return "minKey";
    }
    return "?";
}

} // namespace cdc::test::standin
