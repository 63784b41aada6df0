// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/change_stream.hpp"

#include "tests/support/standin/change_event.hpp"
#include "tests/support/standin/describe.hpp"
#include "tests/support/standin/event_limit.hpp"
#include "tests/support/standin/server_error.hpp"

namespace cdc::test::standin {

namespace {

using kind = oplog_entry::kind;

server_error unresumable(int error_code, const std::string& text) {
    server_error e(error_code, text);
    e.labels.emplace_back("NonResumableChangeStreamError");
    return e;
}

bool is_internal(const std::string& db) {
    return db == "admin" || db == "local" || db == "config";
}

std::string_view string_option(const bson::cursor& c) {
    if (c.kind() != bson::type::string)
        throw server_error(code::type_mismatch,
                           "BSON field '$changeStream." + std::string(c.name()) +
                               "' is the wrong type '" + std::string(type_name(c.kind())) +
                               "', expected type 'string'");
    return c.as_string();
}

void check_enumeration(const bson::cursor& c, std::initializer_list<std::string_view> allowed) {
    const auto v = string_option(c);
    for (const auto a : allowed)
        if (v == a)
            return;
    throw server_error(code::bad_value, "Enumeration value '" + std::string(v) +
                                            "' for field '$changeStream." + std::string(c.name()) +
                                            "' is not a valid value.");
}

} // namespace

change_stream_options change_stream_options::parse(const bson::cursor& stage, const std::string& db,
                                                   const std::string& coll, int major) {
    if (stage.kind() != bson::type::document)
        throw server_error(50808, "$changeStream stage expects a document as argument.");
    change_stream_options out;
    out.db = db;
    out.coll = coll;
    int resume_options = 0;
    for (bson::cursor c{stage.as_document()}; c.next();) {
        if (c.name() == "fullDocument") {
            if (major >= 6)
                check_enumeration(c, {"default", "updateLookup", "whenAvailable", "required"});
            else
                check_enumeration(c, {"default", "updateLookup"});
            if (c.as_string() == "whenAvailable" || c.as_string() == "required")
                throw server_error(code::bad_value, "this stand-in keeps no images");
            out.lookup = c.as_string() == "updateLookup";
        } else if (c.name() == "fullDocumentBeforeChange") {
            check_enumeration(c, {"off", "whenAvailable", "required"});
            // Accepted so that the opening can be compared; no collection keeps images.
            if (c.as_string() == "required")
                throw server_error(code::bad_value, "this stand-in keeps no images");
        } else if (c.name() == "allChangesForCluster") {
            out.cluster = c.truthy();
        } else if (c.name() == "resumeAfter" || c.name() == "startAfter") {
            out.resume = resume_token::parse(c);
            ++resume_options;
            if (c.name() == "resumeAfter" && out.resume->from_invalidate())
                throw server_error(
                    code::invalid_resume_token,
                    "Attempting to resume a change stream using 'resumeAfter' is not "
                    "allowed from an invalidate notification.");
        } else if (c.name() == "startAtOperationTime") {
            if (c.kind() != bson::type::timestamp)
                throw server_error(
                    code::type_mismatch,
                    "BSON field '$changeStream.startAtOperationTime' is the wrong type '" +
                        std::string(type_name(c.kind())) + "', expected type 'timestamp'");
            out.start_at = c.as_timestamp();
            ++resume_options;
        } else if (c.name() == "showExpandedEvents" && major >= 6) {
            if (c.truthy())
                throw server_error(code::bad_value, "this stand-in has no expanded events");
        } else {
            throw server_error(code::unknown_field, "BSON field '$changeStream." +
                                                        std::string(c.name()) +
                                                        "' is an unknown field.");
        }
    }
    if (resume_options > 1)
        throw server_error(40674,
                           "Only one type of resume option is allowed, but multiple were found.");
    if (out.cluster && (db != "admin" || !coll.empty()))
        throw server_error(
            code::invalid_options,
            "A $changeStream with 'allChangesForCluster:true' may only be opened on the "
            "'admin' database, and with no collection name; found " +
                db + (coll.empty() ? "" : "." + coll));
    if (!out.cluster && is_internal(db))
        throw server_error(code::invalid_namespace,
                           "$changeStream may not be opened on the internal " + db + " database");
    if (coll.starts_with("system."))
        throw server_error(code::invalid_namespace,
                           "$changeStream may not be opened on the internal " + db + "." + coll +
                               " collection");
    return out;
}

change_stream::change_stream(const storage& data, change_stream_options options, pipeline stages,
                             bool modern)
    : data_(data)
    , options_(std::move(options))
    , stages_(std::move(stages))
    , modern_(modern)
    , match_before_lookup_(!stages_.mentions("fullDocument")) {
    const oplog& log = data_.history();
    if (options_.resume) {
        start_ = options_.resume->cluster_time();
        must_find_token_ = !options_.resume->is_high_water();
        token_ = options_.resume->to_document();
        const auto at = log.lower_bound(start_);
        if (must_find_token_ && at < log.end_index() && log.at(at).ts == start_)
            resume_fragment_ = options_.resume->fragment_of(log.at(at));
        if (resume_fragment_ && !stages_.splits_large_events())
            throw unresumable(
                code::change_stream_fatal_error,
                "To resume from a split event, the $changeStream pipeline must include "
                "a $changeStreamSplitLargeEvent stage");
    } else {
        start_ = options_.start_at.value_or(bson::timestamp{log.last().t, log.last().i + 1});
    }
    reached_ = start_;
    next_ = log.lower_bound(start_);
}

void change_stream::check_history() {
    checked_ = true;
    const oplog& log = data_.history();
    if (next_ < log.first_index())
        throw server_error(
            code::capped_position_lost,
            "CollectionScan died due to position in capped collection being deleted.");
    if (!must_find_token_) {
        if (start_ < log.oldest() && !log.complete())
            throw unresumable(
                code::change_stream_history_lost,
                "Resume of change stream was not possible, as the resume point may no "
                "longer be in the oplog. ");
        return;
    }
    if (next_ == log.end_index() || log.at(next_).ts != start_)
        return;
    const oplog_entry& e = log.at(next_);
    if (resume_fragment_) {
        must_find_token_ = false; // its event is split again, and must give that fragment
        return;
    }
    const bool invalidate = options_.resume->from_invalidate();
    if (!has_event(e) || resume_token::of_event(e, invalidate).data() != options_.resume->data())
        return;
    must_find_token_ = false;
    // Behind an event that invalidates, its invalidate event is still to come.
    if (!invalidate && in_scope(e) && invalidates(e)) {
        invalidated_ = pending_invalidate_ = true;
        return;
    }
    ++next_;
}

bool change_stream::in_scope(const oplog_entry& e) const {
    if (!has_event(e) || e.coll.starts_with("system."))
        return false;
    if (options_.cluster)
        return !is_internal(e.db);
    const bool into = e.what == kind::rename && e.to_db == options_.db &&
                      (options_.coll.empty() || e.to_coll == options_.coll);
    if (e.db != options_.db)
        return into;
    return options_.coll.empty() || e.coll == options_.coll || into;
}

bool change_stream::invalidates(const oplog_entry& e) const {
    if (options_.cluster)
        return false;
    if (options_.coll.empty())
        return e.what == kind::drop_database;
    return e.what == kind::drop || e.what == kind::rename || e.what == kind::drop_database;
}

std::optional<bson::document> change_stream::event_of(const oplog_entry& e) const {
    if (e.event.view().empty())
        e.event = make_event(e, modern_, std::nullopt);
    if (e.what == kind::insert && data_.event_padding > 0) {
        auto out = stages_.pass(e.event);
        return out ? std::optional(pad(*out, data_.event_padding)) : std::nullopt;
    }
    if (e.what != kind::update || !options_.lookup)
        return stages_.pass(e.event);
    if (match_before_lookup_ && !stages_.pass(e.event))
        return std::nullopt;
    const collection* c = data_.find(e.db, e.coll);
    const bson::document* found = nullptr;
    if (c != nullptr && c->id() == e.collection_id)
        found = c->find_by_id(*bson::find(e.key, "_id"));
    return stages_.pass(make_event(e, modern_, found));
}

bson::document change_stream::position() const {
    return token_ ? token_->clone() : resume_token::high_water(reached_).to_document();
}

void change_stream::pass_time(bson::timestamp ts) {
    if (ts <= reached_)
        return;
    reached_ = ts;
    token_.reset();
}

bool change_stream::emit(std::optional<bson::document> event, bson::view token, batch& out) {
    if (event) {
        check_event_size(*event);
        if (!out.fits(event->size()))
            return false;
        const auto kept = bson::find(*event, "_id");
        if (!kept || kept->kind() != bson::type::document ||
            !std::ranges::equal(kept->as_document().bytes(), token.bytes()))
            throw unresumable(code::change_stream_fatal_error,
                              "Encountered an event whose _id field, which contains the resume "
                              "token, was modified by "
                              "the pipeline. Modifying the _id field of an event makes it "
                              "impossible to resume the "
                              "stream from that point. Only transformations that retain the "
                              "unmodified _id field are "
                              "allowed. Expected: { _id: " +
                                  describe(token) + " } but found: " +
                                  (kept ? "{ _id: " + describe(*kept) + " }" : "{ _id: MISSING }"));
        out.add(std::move(*event));
    }
    token_ = bson::document::copy_of(token);
    return true;
}

bool change_stream::emit_fragments(const oplog_entry& e, const bson::document* event, batch& out) {
    if (event != nullptr) {
        fragments_ = split_event(e, *event);
        if (resume_fragment_) {
            const auto had = static_cast<std::size_t>(*resume_fragment_) + 1;
            if (had > fragments_.size())
                throw unresumable(
                    code::change_stream_fatal_error,
                    "Attempted to resume from a split event, but the resumed stream produced a "
                    "different split. Ensure that the pipeline used to resume is the same as the "
                    "original");
            fragments_.erase(fragments_.begin(),
                             fragments_.begin() + static_cast<std::ptrdiff_t>(had));
            resume_fragment_.reset();
        }
    }
    while (!fragments_.empty()) {
        if (!out.fits(fragments_.front().size()))
            return false;
        token_ = bson::document::copy_of(bson::find(fragments_.front(), "_id")->as_document());
        out.add(std::move(fragments_.front()));
        fragments_.pop_front();
    }
    return true;
}

bool change_stream::deliver(const oplog_entry& e, batch& out) {
    if (!out.fits(0))
        return false;
    if (must_find_token_)
        throw unresumable(code::change_stream_fatal_error,
                          "cannot resume stream; the resume token was not found. " +
                              resume_token::of_event(e).describe());
    if (!fragments_.empty())
        return emit_fragments(e, nullptr, out);
    auto event = event_of(e);
    if (stages_.splits_large_events() && event && needs_split(*event))
        return emit_fragments(e, &*event, out);
    if (resume_fragment_)
        throw unresumable(code::change_stream_fatal_error,
                          "cannot resume stream; the resume token was not found. " +
                              resume_token::of_event(e).describe());
    if (!event) {
        pass_time(e.ts); // it moves the position only as time does
        return true;
    }
    return emit(std::move(event), bson::find(e.event, "_id")->as_document(), out);
}

bool change_stream::deliver_invalidate(const oplog_entry& e, batch& out) {
    if (!out.fits(0))
        return false;
    const bson::document event = make_invalidate(e, modern_);
    return emit(stages_.pass(event), bson::find(event, "_id")->as_document(), out);
}

void change_stream::fill(batch& out) {
    if (!checked_)
        check_history();
    const oplog& log = data_.history();
    if (next_ < log.first_index())
        throw server_error(
            code::capped_position_lost,
            "CollectionScan died due to position in capped collection being deleted.");
    while (!invalidated_ && next_ < log.end_index()) {
        if (!out.may_look())
            return;
        const oplog_entry& e = log.at(next_);
        if (in_scope(e)) {
            if (!deliver(e, out))
                return;
            if (invalidates(e)) {
                invalidated_ = pending_invalidate_ = true;
                break;
            }
        } else {
            pass_time(e.ts);
        }
        ++next_;
    }
    if (pending_invalidate_ && deliver_invalidate(log.at(next_), out))
        pending_invalidate_ = false;
}

} // namespace cdc::test::standin
