// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/expression.hpp"

#include "core/bson/builder.hpp"
#include "tests/support/standin/field_path.hpp"
#include "tests/support/standin/key_string.hpp"
#include "tests/support/standin/server_error.hpp"

#include <algorithm>

namespace cdc::test::standin {

namespace {

using result = expression::result;

bool is_null(const result& r) {
    return !r || r.cursor().kind() == bson::type::null ||
           r.cursor().kind() == bson::type::undefined;
}

result null_result() {
    bson::builder b;
    return result::of(b.null("").finish());
}

} // namespace

result expression::result::of(bson::document one) {
    result out;
    out.owned_ = std::make_shared<const bson::document>(std::move(one));
    bson::cursor c{*out.owned_};
    c.next();
    out.at_ = c;
    return out;
}

expression expression::compile(const bson::cursor& written) {
    expression out;
    if (written.kind() == bson::type::document) {
        bson::cursor first{written.as_document()};
        if (first.next() && first.name().starts_with("$"))
            return compile_operator(first);
        throw server_error(code::bad_value, "this stand-in has no document expressions");
    }
    if (written.kind() == bson::type::string) {
        const std::string text(written.as_string());
        if (text == "$$REMOVE")
            return out;
        if (text.starts_with("$$"))
            throw server_error(17276, "Use of undefined variable: " + text.substr(2));
        if (text.starts_with("$")) {
            out.what_ = kind::path;
            out.path_ = split_path(text.substr(1));
            return out;
        }
    }
    out.what_ = kind::constant;
    out.constant_.emplace(written);
    return out;
}

expression expression::compile_operator(const bson::cursor& written) {
    expression out;
    const std::string name(written.name());
    std::size_t operands = 0; // 0: any number
    if (name == "$literal") {
        out.what_ = kind::constant;
        out.constant_.emplace(written);
        return out;
    }
    if (name == "$bsonSize") {
        out.what_ = kind::bson_size;
        operands = 1;
    } else if (name == "$max") {
        out.what_ = kind::max;
    } else if (name == "$gt") {
        out.what_ = kind::gt;
        operands = 2;
    } else if (name == "$cond") {
        out.what_ = kind::cond;
        operands = 3;
    } else {
        throw server_error(168, "Unrecognized expression '" + name + "'");
    }
    if (written.kind() == bson::type::array)
        for (bson::cursor c{written.as_document()}; c.next();)
            out.operands_.push_back(compile(c));
    else
        out.operands_.push_back(compile(written));
    if (operands != 0 && out.operands_.size() != operands)
        throw server_error(16020, "Expression " + name + " takes exactly " +
                                      std::to_string(operands) + " arguments. " +
                                      std::to_string(out.operands_.size()) + " were passed in.");
    return out;
}

result expression::size_of(bson::view doc) const {
    const auto operand = operands_[0].evaluate(doc);
    if (is_null(operand))
        return null_result();
    if (operand.cursor().kind() != bson::type::document)
        throw server_error(31393, "$bsonSize requires a document input");
    bson::builder b;
    return result::of(
        b.int32("", static_cast<std::int32_t>(operand.cursor().as_document().size())).finish());
}

result expression::largest(bson::view doc) const {
    result out = null_result();
    for (const auto& o : operands_) {
        auto r = o.evaluate(doc);
        if (!is_null(r) && (is_null(out) || compare(r.cursor(), out.cursor()) > 0))
            out = std::move(r);
    }
    return out;
}

result expression::evaluate(bson::view doc) const {
    switch (what_) {
    case kind::remove:
        return {};
    case kind::constant:
        return result(constant_->cursor());
    case kind::path: {
        std::optional<bson::cursor> at;
        for (const auto& part : path_) {
            if (at && at->kind() != bson::type::document)
                return {};
            at = bson::find(at ? at->as_document() : doc, part);
            if (!at)
                return {};
        }
        return result(*at);
    }
    case kind::bson_size:
        return size_of(doc);
    case kind::max:
        return largest(doc);
    case kind::gt: {
        auto a = operands_[0].evaluate(doc);
        auto b = operands_[1].evaluate(doc);
        if (!a)
            a = null_result();
        if (!b)
            b = null_result();
        bson::builder out;
        return result::of(out.boolean("", compare(a.cursor(), b.cursor()) > 0).finish());
    }
    case kind::cond: {
        const auto condition = operands_[0].evaluate(doc);
        const bool holds = condition && condition.cursor().truthy();
        return operands_[holds ? 1 : 2].evaluate(doc);
    }
    }
    return {};
}

added_fields::added_fields(bson::view spec) {
    for (bson::cursor c{spec}; c.next();) {
        if (c.name().find('.') != std::string_view::npos || c.name().starts_with("$"))
            throw server_error(code::bad_value, "this stand-in adds top fields only");
        fields_.emplace_back(c.name(), expression::compile(c));
    }
    if (fields_.empty())
        throw server_error(40177, "Invalid $addFields :: caused by :: specification must have at "
                                  "least one field");
}

bson::document added_fields::apply(bson::view doc) const {
    std::vector<result> made;
    for (const auto& [name, e] : fields_)
        made.push_back(e.evaluate(doc)); // all of them see the document as it was
    bson::builder b;
    std::vector<bool> placed(fields_.size());
    for (bson::cursor c{doc}; c.next();) {
        const auto field = std::ranges::find(
            fields_, c.name(), [](const auto& f) { return std::string_view(f.first); });
        if (field == fields_.end()) {
            b.value(c.name(), c);
            continue;
        }
        const auto i = static_cast<std::size_t>(field - fields_.begin());
        placed[i] = true;
        if (made[i])
            b.value(c.name(), made[i].cursor());
    }
    for (std::size_t i = 0; i < fields_.size(); ++i)
        if (!placed[i] && made[i])
            b.value(fields_[i].first, made[i].cursor());
    return b.finish();
}

} // namespace cdc::test::standin
