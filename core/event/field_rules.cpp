// SPDX-License-Identifier: Apache-2.0
#include "core/event/field_rules.hpp"

#include "core/event/field_path.hpp"

#include <fmt/format.h>

#include <cctype>

namespace cdc::event {

namespace {

using error::errc;
using outcome = error::result<void>;

constexpr std::string_view exclude_option = "field.exclude.list";
constexpr std::string_view rename_option = "field.renames";

/// `*` is any run of characters; case is ignored.
bool matches(std::string_view pattern, std::string_view text) noexcept {
    const auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) ==
               std::tolower(static_cast<unsigned char>(b));
    };
    std::size_t p = 0;
    std::size_t t = 0;
    std::optional<std::size_t> star; // the last `*`, and where its run ends so far
    std::size_t run_end = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            run_end = t;
        } else if (p < pattern.size() && same(pattern[p], text[t])) {
            ++p;
            ++t;
        } else if (star) {
            p = *star + 1;
            t = ++run_end;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

error::diagnostics malformed(std::string_view part) {
    return error::fail(errc::bad_data, fmt::format("malformed BSON in {}", part));
}

} // namespace

std::string field_rules::parse(std::string_view text, bool rename, item& out) {
    out.text = text;
    std::string_view path = text;
    if (rename) {
        const auto colon = text.find(':');
        if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos)
            return "needs one colon, in front of the new name";
        path = text.substr(0, colon);
        out.new_name = text.substr(colon + 1);
        if (out.new_name.empty() || out.new_name.find('.') != std::string::npos)
            return "has no new name, or one with a dot";
    }
    std::vector<std::string> parts;
    for (field_path_parts p{path}; p.next();) {
        if (p.part().empty())
            return "has an empty part";
        parts.emplace_back(p.part());
    }
    if (parts.size() < 3)
        return "names no field";
    for (std::size_t i = 2; i < parts.size(); ++i)
        if (parts[i].find('*') != std::string::npos)
            return "has a * in the field's path, which is literal";
    out.db = std::move(parts[0]);
    out.collection = std::move(parts[1]);
    out.path.assign(std::make_move_iterator(parts.begin() + 2),
                    std::make_move_iterator(parts.end()));
    if (rename && out.new_name == out.path.back())
        return "renames a field to its own name";
    return {};
}

std::string field_rules::problem_of(std::string_view text, bool rename) {
    item parsed;
    return parse(text, rename, parsed);
}

error::result<field_rules> field_rules::compile(const std::vector<std::string>& excluded,
                                                const std::vector<std::string>& renamed) {
    field_rules out;
    const auto take = [](const std::vector<std::string>& items, bool rename,
                         std::vector<item>& into) -> outcome {
        for (const auto& text : items)
            if (const auto problem = parse(text, rename, into.emplace_back()); !problem.empty())
                return error::fail(errc::configuration,
                                   fmt::format("{}: item '{}' {}",
                                               rename ? rename_option : exclude_option, text,
                                               problem));
        return outcome{};
    };
    if (auto done = take(excluded, false, out.excluded_); !done)
        return std::move(done).error();
    if (auto done = take(renamed, true, out.renamed_); !done)
        return std::move(done).error();
    return out;
}

std::unique_ptr<const field_rules::collection_rules>
field_rules::of(std::string_view db, std::string_view collection) const {
    const auto concerns = [&](const item& i) {
        return matches(i.db, db) && matches(i.collection, collection);
    };
    auto out = std::make_unique<collection_rules>();
    for (const auto& i : excluded_)
        if (concerns(i))
            out->excluded_.add(i.path);
    for (const auto& i : renamed_)
        if (concerns(i))
            out->renamed_.emplace_back(i.path, i.new_name, i.text);
    if (out->excluded_.empty() && out->renamed_.empty())
        return nullptr;
    return out;
}

// --- What an event becomes ----------------------------------------------------------------------

outcome field_rules::collection_rules::copy(bson::view from, kind what, std::string_view part,
                                            buffers& to) const {
    const std::size_t stages = (excluded_.empty() ? 0U : 1U) + renamed_.size();
    bson::view source = from;
    for (std::size_t stage = 0; stage < stages; ++stage) {
        // What a stage reads must not move while it writes.
        auto& out = stage + 1 == stages ? to.result : to.between[stage % 2];
        if (stage + 1 < stages)
            out.clear();
        const std::size_t begin = out.size();
        if (stage == 0 && !excluded_.empty()) {
            const bool sound = what == kind::document ? excluded_.copy_document(source, out)
                                                      : excluded_.copy_updated_fields(source, out);
            if (!sound)
                return malformed(part);
        } else {
            const auto& rename = renamed_[stage - (excluded_.empty() ? 0U : 1U)];
            const auto done = what == kind::document ? rename.copy_document(source, out)
                                                     : rename.copy_updated_fields(source, out);
            if (done == renamed_field::result::malformed)
                return malformed(part);
            if (done == renamed_field::result::taken)
                return error::fail(errc::bad_data,
                                   fmt::format("{}: item '{}': the new name is there already in {}",
                                               rename_option, rename.rule(), part));
        }
        source = *bson::view::from({out.data() + begin, out.size() - begin});
    }
    return outcome{};
}

std::optional<std::string> field_rules::collection_rules::path_of(std::string_view path) const {
    if (excluded_.covers(path))
        return std::nullopt;
    std::string out{path};
    for (const auto& rename : renamed_)
        if (auto renamed = rename.renamed(out))
            out = std::move(*renamed);
    return out;
}

outcome field_rules::collection_rules::copy_removed(bson::view names, buffers& to) const {
    bson::appender out{to.result};
    const auto opened = out.open();
    std::size_t count = 0;
    bson::cursor c{names};
    while (c.next()) {
        if (c.kind() != bson::type::string)
            return malformed("updateDescription.removedFields");
        if (const auto path = path_of(c.as_string()))
            out.string(std::to_string(count++), *path);
    }
    out.close(opened);
    return c.malformed() ? malformed("updateDescription.removedFields") : outcome{};
}

outcome field_rules::collection_rules::copy_truncated(bson::view arrays, buffers& to) const {
    bson::appender out{to.result};
    const auto opened = out.open();
    std::size_t count = 0;
    bson::cursor c{arrays};
    while (c.next()) {
        const auto field = c.kind() == bson::type::document ? bson::find(c.as_document(), "field")
                                                            : std::optional<bson::cursor>{};
        const auto size = field ? bson::find(c.as_document(), "newSize") : field;
        if (!size || field->kind() != bson::type::string)
            return malformed("updateDescription.truncatedArrays");
        const auto path = path_of(field->as_string());
        if (!path)
            continue;
        const auto entry = out.open(bson::type::document, std::to_string(count++));
        out.string("field", *path);
        out.copy(*size, "newSize");
        out.close(entry);
    }
    out.close(opened);
    return c.malformed() ? malformed("updateDescription.truncatedArrays") : outcome{};
}

error::result<change_event> field_rules::collection_rules::apply(const change_event& e,
                                                                 buffers& to) const {
    change_event out = e;
    to.result.clear();
    // The views of the new parts are made when the buffer moves no more.
    std::vector<std::pair<bson::view*, std::size_t>> made;
    const auto part = [&](bson::view& shown, const outcome& copied) {
        if (copied)
            made.emplace_back(&shown, to.result.size());
        return copied;
    };
    if (out.before)
        if (auto done =
                part(*out.before, copy(*e.before, kind::document, "fullDocumentBeforeChange", to));
            !done)
            return std::move(done).error();
    if (out.after)
        if (auto done = part(*out.after, copy(*e.after, kind::document, "fullDocument", to)); !done)
            return std::move(done).error();
    if (out.document_key)
        if (auto done =
                part(*out.document_key, copy(*e.document_key, kind::document, "documentKey", to));
            !done)
            return std::move(done).error();
    if (out.update) {
        auto& update = *out.update;
        if (auto done = part(update.updated_fields, copy(e.update->updated_fields, kind::updated,
                                                         "updateDescription.updatedFields", to));
            !done)
            return std::move(done).error();
        if (auto done = part(update.removed_fields, copy_removed(e.update->removed_fields, to));
            !done)
            return std::move(done).error();
        if (update.truncated_arrays)
            if (auto done =
                    part(*update.truncated_arrays, copy_truncated(*e.update->truncated_arrays, to));
                !done)
                return std::move(done).error();
    }
    std::size_t begin = 0;
    for (const auto& [shown, end] : made) {
        *shown = *bson::view::from({to.result.data() + begin, end - begin});
        begin = end;
    }
    return out;
}

} // namespace cdc::event
