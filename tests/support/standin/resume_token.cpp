// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/resume_token.hpp"

#include "core/bson/builder.hpp"
#include "tests/support/standin/describe.hpp"
#include "tests/support/standin/key_string.hpp"
#include "tests/support/standin/server_error.hpp"

#include <fmt/format.h>

namespace cdc::test::standin {

namespace {

constexpr std::int32_t token_version = 1;
constexpr std::int32_t event_token = 128;

std::string to_hex(const std::string& bytes) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    out.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        const auto b = static_cast<std::uint8_t>(c);
        out.push_back(digits[b >> 4U]);
        out.push_back(digits[b & 15U]);
    }
    return out;
}

std::string from_hex(std::string_view hex) {
    const auto digit = [](char c) -> unsigned {
        if (c >= '0' && c <= '9')
            return static_cast<unsigned>(c - '0');
        if (c >= 'a' && c <= 'f')
            return static_cast<unsigned>(c - 'a') + 10;
        if (c >= 'A' && c <= 'F')
            return static_cast<unsigned>(c - 'A') + 10;
        throw server_error(code::failed_to_parse, "resume token string was not a valid hex string");
    };
    if (hex.size() % 2 != 0)
        throw server_error(code::failed_to_parse, "resume token string was not a valid hex string");
    std::string out;
    for (std::size_t i = 0; i < hex.size(); i += 2)
        out.push_back(static_cast<char>((digit(hex[i]) << 4U) | digit(hex[i + 1])));
    return out;
}

/// Reads forward; running out is the server's Overflow.
class token_reader {
  public:
    explicit token_reader(std::string_view bytes)
        : all_(bytes) {}

    std::uint8_t byte() { return static_cast<std::uint8_t>(take(1)[0]); }
    std::uint64_t big_endian(std::size_t size) {
        std::uint64_t out = 0;
        for (const char c : take(size))
            out = (out << 8U) | static_cast<std::uint8_t>(c);
        return out;
    }
    /// A small number that is not negative, without a fraction.
    std::uint64_t number() {
        const int first = byte();
        if (first == 41)
            return 0;
        if (first < 43 || first > 50)
            throw unknown_type(first);
        return big_endian(static_cast<std::size_t>(first - 42)) >> 1U;
    }
    static server_error unknown_type(int first) {
        return {50811, fmt::format("KeyString format error: Unknown type: {}", first)};
    }

  private:
    std::string_view take(std::size_t size) {
        if (size > all_.size() - at_)
            throw server_error(
                code::overflow,
                fmt::format("Invalid advance ({}) past end of buffer[{}] at offset: {}", size,
                            all_.size() - at_, 0));
        at_ += size;
        return all_.substr(at_ - size, size);
    }
    std::string_view all_;
    std::size_t at_ = 0;
};

} // namespace

resume_token resume_token::of_event(const oplog_entry& entry, bool invalidate,
                                    std::optional<std::int32_t> fragment) {
    key_string key;
    key.append_timestamp(entry.ts).append_int(token_version).append_int(event_token);
    key.append_int(0).append_bool(invalidate);
    if (entry.collection_id != uuid{})
        key.append_uuid(entry.collection_id);
    const bool has_key = !entry.key.view().empty();
    if (has_key)
        key.append_document(entry.key);
    if (fragment)
        key.append_int(*fragment);
    key.finish();
    resume_token out;
    out.cluster_time_ = entry.ts;
    out.from_invalidate_ = invalidate;
    out.data_ = to_hex(key.bytes());
    out.type_bits_ = key.type_bits();
    return out;
}

std::optional<std::int32_t> resume_token::fragment_of(const oplog_entry& entry) const {
    const std::string whole = of_event(entry).data();
    constexpr std::size_t end = 2; // the byte that finish() appends
    if (data_.size() <= whole.size() ||
        !data_.starts_with(std::string_view(whole).substr(0, whole.size() - end)))
        return std::nullopt;
    const std::string rest = from_hex(std::string_view(data_).substr(whole.size() - end));
    return static_cast<std::int32_t>(token_reader(rest).number());
}

resume_token resume_token::high_water(bson::timestamp ts) {
    key_string key;
    key.append_timestamp(ts).append_int(token_version).append_int(0);
    key.append_int(0).append_bool(false).finish();
    resume_token out;
    out.cluster_time_ = ts;
    out.high_water_ = true;
    out.data_ = to_hex(key.bytes());
    return out;
}

resume_token resume_token::parse(const bson::cursor& sent) {
    if (sent.kind() != bson::type::document)
        throw server_error(code::type_mismatch,
                           fmt::format("BSON field '$changeStream.{}' is the wrong type '{}', "
                                       "expected type 'object'",
                                       sent.name(), type_name(sent.kind())));
    const auto data = bson::find(sent.as_document(), "_data");
    if (!data || data->kind() != bson::type::string)
        throw server_error(40647, "Bad resume token: _data of missing or of wrong type" +
                                      standin::describe(sent.as_document()));
    resume_token out;
    out.data_ = data->as_string();
    for (bson::cursor c{sent.as_document()}; c.next();) {
        if (c.name() == "_typeBits") {
            if (c.kind() != bson::type::binary)
                throw server_error(40648, "Bad resume token: _typeBits of wrong type" +
                                              standin::describe(sent.as_document()));
            const auto v = c.as_binary().bytes;
            out.type_bits_.assign(reinterpret_cast<const char*>(v.data()), v.size());
        }
    }
    const std::string bytes = from_hex(out.data_);
    if (bytes.empty())
        throw server_error(40649, "invalid empty resume token");
    token_reader in(bytes);
    constexpr int timestamp = 130;
    if (const int first = in.byte(); first != timestamp)
        throw token_reader::unknown_type(first);
    const std::uint64_t ts = in.big_endian(8);
    out.cluster_time_ = {static_cast<std::uint32_t>(ts >> 32U), static_cast<std::uint32_t>(ts)};
    if (in.number() > 1)
        throw server_error(50795, "Invalid resume token: version must be 0 or 1");
    const std::uint64_t type = in.number();
    out.high_water_ = type == 0;
    if (type != 0 && type != event_token)
        throw server_error(51056, fmt::format("Unknown token type: {}", type));
    in.number(); // the position in a transaction
    const int invalidate = in.byte();
    if (invalidate != 110 && invalidate != 111)
        throw token_reader::unknown_type(invalidate);
    out.from_invalidate_ = invalidate == 111;
    return out;
}

bson::document resume_token::to_document() const {
    bson::builder b;
    b.string("_data", data_);
    if (!type_bits_.empty())
        b.binary("_typeBits", 0,
                 {reinterpret_cast<const std::uint8_t*>(type_bits_.data()), type_bits_.size()});
    return b.finish();
}

std::string resume_token::describe() const {
    std::string out = "{_data: \"" + data_ + "\"";
    if (!type_bits_.empty())
        out += ", _typeBits: BinData(0, " + to_hex(type_bits_) + ")";
    return out + "}";
}

} // namespace cdc::test::standin
