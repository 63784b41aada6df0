// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wire/wire_message.hpp"

#include "core/bson/builder.hpp"

#include <bson/bson.h>

#include <cstring>
#include <string_view>

namespace cdc::test::wire {

namespace {

constexpr std::uint32_t op_reply = 1;
constexpr std::uint32_t op_query = 2004;
constexpr std::uint32_t op_msg = 2013;

constexpr std::uint32_t flag_checksum = 1U << 0;
constexpr std::uint32_t flag_more_to_come = 1U << 1;
constexpr std::uint32_t required_flags = 0xffff;

/// Reads forward through a message; a read past the end fails and stays failed.
class reader {
  public:
    explicit reader(std::span<const std::uint8_t> bytes) noexcept
        : left_(bytes) {}

    bool ok() const noexcept { return ok_; }
    bool at_end() const noexcept { return left_.empty(); }
    std::size_t left() const noexcept { return left_.size(); }

    std::uint32_t u32() noexcept {
        std::uint32_t v = 0;
        const auto b = take(sizeof v);
        if (!b.empty())
            std::memcpy(&v, b.data(), sizeof v);
        return v;
    }
    std::uint8_t u8() noexcept {
        const auto b = take(1);
        return b.empty() ? 0 : b[0];
    }
    std::string_view cstring() noexcept {
        const void* end = left_.empty() ? nullptr : std::memchr(left_.data(), 0, left_.size());
        if (end == nullptr) {
            ok_ = false;
            return {};
        }
        const auto size =
            static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - left_.data());
        const std::string_view out(reinterpret_cast<const char*>(left_.data()), size);
        left_ = left_.subspan(size + 1);
        return out;
    }
    std::span<const std::uint8_t> take(std::size_t size) noexcept {
        if (!ok_ || size > left_.size()) {
            ok_ = false;
            return {};
        }
        const auto out = left_.first(size);
        left_ = left_.subspan(size);
        return out;
    }
    /// A document that is sound in all its depth.
    bson::view document() noexcept {
        std::uint32_t size = 0;
        if (left_.size() >= sizeof size)
            std::memcpy(&size, left_.data(), sizeof size);
        const auto bytes = take(size);
        bson_t doc;
        if (!ok_ || !bson_init_static(&doc, bytes.data(), bytes.size()) ||
            !bson_validate(&doc, BSON_VALIDATE_NONE, nullptr)) {
            ok_ = false;
            return {};
        }
        auto v = bson::view::from(bytes);
        ok_ = v.has_value();
        return ok_ ? *v : bson::view{};
    }

  private:
    std::span<const std::uint8_t> left_;
    bool ok_ = true;
};

std::optional<request> parse_op_query(reader in) {
    in.u32(); // flags
    const std::string_view ns = in.cstring();
    in.u32(); // numberToSkip
    in.u32(); // numberToReturn
    const bson::view body = in.document();
    constexpr std::string_view suffix = ".$cmd";
    if (!in.ok() || !ns.ends_with(suffix))
        return std::nullopt;
    request out;
    out.legacy = true;
    out.db = ns.substr(0, ns.size() - suffix.size());
    out.body = bson::document::copy_of(body);
    return out;
}

bool read_sequence(reader& in, bson::builder& body) {
    const std::uint32_t size = in.u32();
    if (!in.ok() || size < sizeof size)
        return false;
    reader section(in.take(size - sizeof size));
    if (!in.ok())
        return false;
    const std::string_view name = section.cstring();
    bson::builder array;
    while (section.ok() && !section.at_end()) {
        const bson::view doc = section.document();
        if (section.ok())
            array.document(std::to_string(array.count()), doc);
    }
    if (!section.ok())
        return false;
    const bson::document finished = array.finish();
    body.array(name, finished);
    return true;
}

std::optional<request> parse_op_msg(reader in) {
    const std::uint32_t flags = in.u32();
    if ((flags & required_flags & ~(flag_checksum | flag_more_to_come)) != 0)
        return std::nullopt;
    const std::size_t trailer = (flags & flag_checksum) != 0 ? 4 : 0;

    std::optional<bson::view> main;
    bson::builder sequences;
    while (in.ok() && in.left() > trailer) {
        switch (in.u8()) {
        case 0: {
            const bson::view doc = in.document();
            if (main || !in.ok())
                return std::nullopt;
            main = doc;
            break;
        }
        case 1:
            if (!read_sequence(in, sequences))
                return std::nullopt;
            break;
        default:
            return std::nullopt;
        }
    }
    if (!in.ok() || in.left() != trailer || !main)
        return std::nullopt;

    request out;
    out.more_to_come = (flags & flag_more_to_come) != 0;
    if (const auto db = bson::find(*main, "$db"); db && db->kind() == bson::type::string)
        out.db = db->as_string();
    if (sequences.count() == 0) {
        out.body = bson::document::copy_of(*main);
    } else {
        bson::builder whole;
        whole.append_all(*main);
        const bson::document arrays = sequences.finish();
        whole.append_all(arrays);
        out.body = whole.finish();
    }
    return out;
}

void put(std::vector<std::uint8_t>& out, const void* data, std::size_t size) {
    const auto* p = static_cast<const std::uint8_t*>(data);
    out.insert(out.end(), p, p + size);
}
void put(std::vector<std::uint8_t>& out, std::uint32_t v) {
    put(out, &v, sizeof v);
}

} // namespace

std::optional<message_header>
message_header::parse(std::span<const std::uint8_t, size> bytes) noexcept {
    message_header h;
    std::memcpy(&h.length, bytes.data(), 4);
    std::memcpy(&h.request_id, bytes.data() + 4, 4);
    std::memcpy(&h.opcode, bytes.data() + 12, 4);
    if (h.length < size || h.length > largest_message)
        return std::nullopt;
    return h;
}

std::optional<request> parse_request(const message_header& header,
                                     std::span<const std::uint8_t> body) {
    std::optional<request> out;
    if (header.opcode == op_msg)
        out = parse_op_msg(reader(body));
    else if (header.opcode == op_query)
        out = parse_op_query(reader(body));
    if (!out)
        return std::nullopt;
    bson::cursor first{out->body};
    if (!first.next())
        return std::nullopt;
    out->command = first.name();
    return out;
}

std::vector<std::uint8_t> encode_reply(bool legacy, std::uint32_t request_id,
                                       std::uint32_t response_to, bson::view reply) {
    std::vector<std::uint8_t> out;
    out.reserve(message_header::size + 20 + reply.size());
    put(out, 0U); // the length, set below
    put(out, request_id);
    put(out, response_to);
    if (legacy) {
        constexpr std::uint32_t await_capable = 8;
        put(out, op_reply);
        put(out, await_capable);
        put(out, 0U); // cursorID, two words
        put(out, 0U);
        put(out, 0U); // startingFrom
        put(out, 1U); // numberReturned
    } else {
        put(out, op_msg);
        put(out, 0U);
        out.push_back(0);
    }
    put(out, reply.data(), reply.size());
    const auto length = static_cast<std::uint32_t>(out.size());
    std::memcpy(out.data(), &length, sizeof length);
    return out;
}

} // namespace cdc::test::wire
