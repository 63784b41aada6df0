// SPDX-License-Identifier: Apache-2.0
#include "core/bson/extended_json.hpp"

#include "core/bson/base64.hpp"
#include "core/bson/number_text.hpp"

#include <boost/container/small_vector.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace cdc::bson {

namespace {

/// The last millisecond of the year 9999: relaxed dates have text between 0 and this.
constexpr std::int64_t last_date_with_text = 253402300799999;

constexpr bool is_spaced(json_format f) {
    return f == json_format::relaxed_spaced;
}
constexpr bool is_strict(json_format f) {
    return f == json_format::strict_compact || f == json_format::strict_bare_compact;
}
constexpr bool is_relaxed(json_format f) {
    return f == json_format::relaxed_compact || f == json_format::relaxed_spaced;
}
constexpr bool is_extended(json_format f) {
    return f == json_format::extended_compact;
}

/// A string as a template argument.
template <std::size_t N>
struct fixed_string {
    constexpr fixed_string(const char (&text)[N]) { // NOLINT: written as a plain literal
        for (std::size_t i = 0; i < N; ++i)
            chars[i] = text[i];
    }
    char chars[N]{};
};

/// JSON text with the quotes and commas of the format and embedding; made at compile time.
template <fixed_string S, json_format F, json_embedding E>
struct literal {
    static constexpr std::size_t size = [] {
        std::size_t n = 0;
        for (const char c : S.chars) {
            n += c != 0 ? 1 : 0;
            n += c == '"' && E == json_embedding::embedded ? 1 : 0;
            n += c == ',' && is_spaced(F) ? 1 : 0;
        }
        return n;
    }();
    static constexpr std::array<char, size> text = [] {
        std::array<char, size> out{};
        std::size_t n = 0;
        for (const char c : S.chars) {
            if (c == 0)
                break;
            if (c == '"' && E == json_embedding::embedded)
                out[n++] = '\\';
            out[n++] = c;
            if (c == ',' && is_spaced(F))
                out[n++] = ' ';
        }
        return out;
    }();
};

template <json_format F, json_embedding E>
class document_writer {
  public:
    explicit document_writer(json::writer& out) noexcept
        : out_(out) {}

    /// False when something is malformed.
    bool document(view v, bool is_array) {
        open(is_array);
        return elements({cursor{v}, is_array, false});
    }

    bool value(const cursor& c) {
        switch (c.kind()) {
        case type::document:
        case type::array:
            return document(c.as_document(), c.kind() == type::array);
        case type::code_with_scope: {
            const auto code = c.as_code_with_scope();
            open_code(code.code);
            return elements({cursor{code.scope}, false, true});
        }
        default:
            scalar(c);
            return true;
        }
    }

  private:
    struct frame {
        cursor at;
        bool is_array;
        bool is_scope; ///< of a code value, whose own brace closes behind it
    };

    template <fixed_string S>
    void put() {
        using text = literal<S, F, E>;
        char* to = out_.need(text::size);
        std::memcpy(to, text::text.data(), text::size);
        out_.advance_to(to + text::size);
    }

    template <fixed_string S>
    static char* put_at(char* to) noexcept {
        using text = literal<S, F, E>;
        std::memcpy(to, text::text.data(), text::size);
        return to + text::size;
    }

    void open(bool is_array) {
        if (is_array)
            put<"[">();
        else
            put<"{">();
    }

    void open_code(std::string_view code) {
        put<R"({"$code": )">();
        append_text<E>(out_, code);
        put<R"(,"$scope": {)">();
    }

    // The documents around the current one wait in a list instead of on the call stack: the depth
    // comes from the data, and this runs on small stacks.
    bool elements(frame current) {
        boost::container::small_vector<frame, 16> around;
        bool first = true;
        for (;;) {
            if (!current.at.next()) {
                if (current.at.malformed())
                    return false;
                if (current.is_array)
                    put<"]">();
                else if (current.is_scope)
                    put<"}}">();
                else
                    put<"}">();
                if (around.empty())
                    return true;
                current = around.back();
                around.pop_back();
                first = false;
                continue;
            }
            if (!first)
                put<",">();
            first = false;
            const cursor& c = current.at;
            if (!current.is_array) {
                append_text<E>(out_, c.name());
                put<": ">();
            }
            switch (c.kind()) {
            case type::document:
            case type::array: {
                const frame inner{cursor{c.as_document()}, c.kind() == type::array, false};
                open(inner.is_array);
                around.push_back(current);
                current = inner;
                first = true;
                break;
            }
            case type::code_with_scope: {
                const auto code = c.as_code_with_scope();
                open_code(code.code);
                around.push_back(current);
                current = {cursor{code.scope}, false, true};
                first = true;
                break;
            }
            default:
                scalar(c);
            }
        }
    }

    void scalar(const cursor& c) {
        switch (c.kind()) {
        case type::double_:
            number(c.as_double());
            break;
        case type::string:
            append_text<E>(out_, c.as_string());
            break;
        case type::binary:
            binary(c.as_binary());
            break;
        case type::undefined:
            put<R"({"$undefined": true})">();
            break;
        case type::oid:
            object_id(c.as_oid());
            break;
        case type::boolean:
            if (c.as_bool())
                put<"true">();
            else
                put<"false">();
            break;
        case type::date:
            date(c.as_date_ms());
            break;
        case type::null:
            put<"null">();
            break;
        case type::regex:
            regex(c.as_regex());
            break;
        case type::db_pointer: {
            const auto pointer = c.as_db_pointer();
            if constexpr (is_extended(F))
                put<R"({"$dbPointer": )">();
            put<R"({"$ref": )">();
            append_text<E>(out_, pointer.ns);
            put<R"(,"$id": )">();
            object_id(pointer.id);
            put<"}">();
            if constexpr (is_extended(F))
                put<"}">();
            break;
        }
        case type::code:
            put<R"({"$code": )">();
            append_text<E>(out_, c.as_string());
            put<"}">();
            break;
        case type::symbol:
            put<R"({"$symbol": )">();
            append_text<E>(out_, c.as_string());
            put<"}">();
            break;
        case type::int32:
            if constexpr (is_extended(F))
                put<R"({"$numberInt": ")">();
            out_.integer(c.as_int32());
            if constexpr (is_extended(F))
                put<R"("})">();
            break;
        case type::timestamp: {
            const timestamp ts = c.as_timestamp();
            put<R"({"$timestamp": {"t": )">();
            out_.integer(ts.t);
            put<R"(,"i": )">();
            out_.integer(ts.i);
            put<"}}">();
            break;
        }
        case type::int64:
            if constexpr (is_relaxed(F))
                out_.integer(c.as_int64());
            else
                long_number(c.as_int64());
            break;
        case type::decimal128: {
            char* to = out_.need(max_number_text + 40);
            to = put_at<R"({"$numberDecimal": ")">(to);
            to = write_decimal128(to, c.as_decimal128());
            out_.advance_to(put_at<R"("})">(to));
            break;
        }
        case type::min_key:
            put<R"({"$minKey": 1})">();
            break;
        case type::max_key:
            put<R"({"$maxKey": 1})">();
            break;
        case type::document:
        case type::array:
        case type::code_with_scope:
            break; // not scalars; the callers open them
        }
    }

    void number(double value) {
        if (std::isfinite(value)) {
            if constexpr (is_extended(F))
                put<R"({"$numberDouble": ")">();
            out_.advance_to(write_double(out_.need(max_number_text), value));
            if constexpr (is_extended(F))
                put<R"("})">();
            return;
        }
        if constexpr (F != json_format::strict_bare_compact)
            put<R"({"$numberDouble": ")">();
        if (std::isnan(value))
            put<"NaN">();
        else if (value > 0)
            put<"Infinity">();
        else
            put<"-Infinity">();
        if constexpr (F != json_format::strict_bare_compact)
            put<R"("})">();
    }

    void long_number(std::int64_t value) {
        put<R"({"$numberLong": ")">();
        out_.integer(value);
        put<R"("})">();
    }

    void date(std::int64_t ms) {
        if constexpr (is_strict(F)) {
            put<R"({"$date": )">();
            out_.integer(ms);
        } else if (is_relaxed(F) && ms >= 0 && ms <= last_date_with_text) {
            char* to = out_.need(max_number_text + 20);
            to = put_at<R"({"$date": ")">(to);
            to = write_iso_date(to, ms);
            out_.advance_to(put_at<R"(")">(to));
        } else {
            put<R"({"$date": )">();
            long_number(ms);
        }
        put<"}">();
    }

    void object_id(std::span<const std::uint8_t, 12> id) {
        char* to = out_.need(64);
        to = put_at<R"({"$oid": ")">(to);
        for (const std::uint8_t byte : id)
            to = put_hex(to, byte, "0123456789abcdef");
        out_.advance_to(put_at<R"("})">(to));
    }

    void binary(const cursor::binary_value& value) {
        if constexpr (is_strict(F))
            put<R"({"$binary": ")">();
        else
            put<R"({"$binary": {"base64": ")">();
        char* to = out_.need(base64_size(value.bytes.size()) + 64);
        to = write_base64(to, value.bytes);
        if constexpr (is_strict(F))
            to = put_at<R"(","$type": ")">(to);
        else
            to = put_at<R"(","subType": ")">(to);
        to = put_hex(to, value.subtype, "0123456789ABCDEF");
        if constexpr (is_strict(F))
            to = put_at<R"("})">(to);
        else
            to = put_at<R"("}})">(to);
        out_.advance_to(to);
    }

    void regex(const cursor::regex_value& value) {
        if constexpr (is_strict(F))
            put<R"({"$regex": )">();
        else
            put<R"({"$regularExpression": {"pattern": )">();
        append_text<E>(out_, value.pattern);
        if constexpr (is_strict(F))
            put<R"(,"$options": )">();
        else
            put<R"(,"options": )">();
        append_text<E>(out_, value.options);
        if constexpr (is_strict(F))
            put<"}">();
        else
            put<"}}">();
    }

    static char* put_hex(char* to, std::uint8_t byte, const char* digits) noexcept {
        *to++ = digits[byte >> 4];
        *to++ = digits[byte & 0xf];
        return to;
    }

    json::writer& out_;
};

/// Calls `write` with the document_writer of a format and embedding.
template <class Write>
bool with_writer(json::writer& out, json_format format, json_embedding embedding, Write write) {
    const auto with_embedding = [&]<json_format F>() {
        if (embedding == json_embedding::embedded)
            return write(document_writer<F, json_embedding::embedded>{out});
        return write(document_writer<F, json_embedding::plain>{out});
    };
    switch (format) {
    case json_format::strict_compact:
        return with_embedding.template operator()<json_format::strict_compact>();
    case json_format::strict_bare_compact:
        return with_embedding.template operator()<json_format::strict_bare_compact>();
    case json_format::extended_compact:
        return with_embedding.template operator()<json_format::extended_compact>();
    case json_format::relaxed_compact:
        return with_embedding.template operator()<json_format::relaxed_compact>();
    case json_format::relaxed_spaced:
        return with_embedding.template operator()<json_format::relaxed_spaced>();
    }
    return false;
}

error::result<void> outcome(bool sound) {
    if (!sound)
        return error::fail(error::errc::bad_data, "malformed BSON element");
    return error::result<void>{};
}

} // namespace

error::result<void> write_json(json::writer& out, view document, json_format format,
                               json_embedding embedding) {
    return outcome(with_writer(out, format, embedding,
                               [&](auto writer) { return writer.document(document, false); }));
}

error::result<void> write_json(json::writer& out, const cursor& element, json_format format,
                               json_embedding embedding) {
    return outcome(
        with_writer(out, format, embedding, [&](auto writer) { return writer.value(element); }));
}

} // namespace cdc::bson
