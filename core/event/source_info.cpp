// SPDX-License-Identifier: Apache-2.0
#include "core/event/source_info.hpp"

#include "core/bson/extended_json.hpp"

#include <charconv>

namespace cdc::event {

namespace {

std::string quoted(std::string_view text) {
    std::string out;
    json::writer{out}.string(text);
    return out;
}

/// `ms` times a power of ten, from the text of `ms`: cheaper than making the digits again.
void scaled_or_null(json::writer& out, std::int64_t ms, std::string_view ms_text,
                    std::string_view zeros, std::int64_t factor) {
    std::int64_t product;
    if (__builtin_mul_overflow(ms, factor, &product)) {
        out.raw("null");
        return;
    }
    out.raw(ms_text);
    if (ms != 0)
        out.raw(zeros);
}

std::int64_t cluster_time_ms(const change_event& e) noexcept {
    return static_cast<std::int64_t>(e.cluster_time.t) * 1000;
}

} // namespace

std::int64_t source_time_ms(const change_event& e) noexcept {
    return e.wall_time_ms.value_or(cluster_time_ms(e));
}

source_info::source_info(const connector& c, std::string_view db, std::string_view collection)
    : shape_(c.shape)
    , before_ts_ms_(R"({"version":)" + quoted(c.version) + R"(,"connector":"mongodb","name":)" +
                    quoted(c.name) + R"(,"ts_ms":)")
    , behind_ts_ms_(R"(,"snapshot":"false","db":)" + quoted(db))
    , before_ord_(R"(,"rs":)" + quoted(c.replica_set) + R"(,"collection":)" + quoted(collection) +
                  R"(,"ord":)") {
    if (shape_ != event_shape::v1_4)
        behind_ts_ms_ += R"(,"sequence":null)";
    if (shape_ == event_shape::current)
        behind_ts_ms_ += R"(,"ts_us":)";
}

error::result<void> source_info::write(json::writer& out, const change_event& e) const {
    const bool current = shape_ == event_shape::current;
    const std::int64_t ts_ms = current ? source_time_ms(e) : cluster_time_ms(e);
    char digits[20];
    const std::string_view ts_ms_text{digits,
                                      std::to_chars(digits, digits + sizeof digits, ts_ms).ptr};
    out.raw(before_ts_ms_);
    out.raw(ts_ms_text);
    out.raw(behind_ts_ms_);
    if (current) {
        scaled_or_null(out, ts_ms, ts_ms_text, "000", 1000);
        out.raw(R"(,"ts_ns":)");
        scaled_or_null(out, ts_ms, ts_ms_text, "000000", 1000000);
    }
    out.raw(before_ord_);
    out.integer(static_cast<std::int32_t>(e.cluster_time.i));
    // Of oplog entries that no server writes any more.
    if (!current)
        out.raw(R"(,"h":null,"tord":null,"stxnid":null)");
    if (shape_ != event_shape::v1_4)
        if (auto written = write_session(out, e); !written)
            return written;
    if (current) {
        out.raw(R"(,"wallTime":)");
        if (e.wall_time_ms)
            out.integer(*e.wall_time_ms);
        else
            out.raw("null");
    }
    out.raw("}");
    return error::result<void>{};
}

error::result<void> source_info::write_session(json::writer& out, const change_event& e) const {
    if (e.lsid) {
        out.raw(R"(,"lsid":")");
        auto written = bson::write_json(out, *e.lsid, bson::json_format::strict_compact,
                                        bson::json_embedding::embedded);
        if (!written)
            return written;
        out.raw(R"(")");
    } else {
        out.raw(R"(,"lsid":null)");
    }
    out.raw(R"(,"txnNumber":)");
    if (e.txn_number)
        out.integer(*e.txn_number);
    else
        out.raw("null");
    return error::result<void>{};
}

std::string source_info::schema(event_shape shape) {
    const bool current = shape == event_shape::current;
    const bool v1_4 = shape == event_shape::v1_4;
    std::string out =
        R"({"type":"struct","fields":[{"type":"string","optional":false,"field":"version"},)"
        R"({"type":"string","optional":false,"field":"connector"},)"
        R"({"type":"string","optional":false,"field":"name"},)"
        R"({"type":"int64","optional":false,"field":"ts_ms"},)"
        R"({"type":"string","optional":true,"name":"io.debezium.data.Enum","version":1,)"
        R"("parameters":{"allowed":")";
    out += current ? "true,first,first_in_data_collection,last_in_data_collection,last,false,"
                     "incremental"
           : v1_4  ? "true,last,false"
                   : "true,last,false,incremental";
    out += R"("},"default":"false","field":"snapshot"},)"
           R"({"type":"string","optional":false,"field":"db"},)";
    if (!v1_4)
        out += R"({"type":"string","optional":true,"field":"sequence"},)";
    if (current)
        out += R"({"type":"int64","optional":true,"field":"ts_us"},)"
               R"({"type":"int64","optional":true,"field":"ts_ns"},)";
    out += R"({"type":"string","optional":false,"field":"rs"},)"
           R"({"type":"string","optional":false,"field":"collection"},)"
           R"({"type":"int32","optional":false,"field":"ord"})";
    if (!current)
        out += R"(,{"type":"int64","optional":true,"field":"h"},)"
               R"({"type":"int64","optional":true,"field":"tord"},)"
               R"({"type":"string","optional":true,"field":"stxnid"})";
    if (!v1_4)
        out += R"(,{"type":"string","optional":true,"field":"lsid"},)"
               R"({"type":"int64","optional":true,"field":"txnNumber"})";
    if (current)
        out += R"(,{"type":"int64","optional":true,"field":"wallTime"})";
    out += R"(],"optional":false,"name":"io.debezium.connector.mongo.Source",)";
    if (current)
        out += R"("version":1,)";
    out += R"("field":"source"})";
    return out;
}

} // namespace cdc::event
