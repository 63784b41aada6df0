// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace cdc::test::standin {

/// One reply's documents, bounded by count and by the size of a reply; and what may be looked at to
/// find them.
class batch {
  public:
    explicit batch(std::size_t most_documents, std::size_t most_looks = unlimited)
        : most_(most_documents)
        , looks_(most_looks) {}

    /// Whether one more entry may be looked at; counts it.
    bool may_look() noexcept {
        if (looks_ == 0)
            return false;
        looks_ -= looks_ != unlimited;
        return true;
    }

    bool empty() const noexcept { return docs_.empty(); }
    /// Whether a document of this size still goes in; the first one always does.
    bool fits(std::size_t size) const noexcept {
        return docs_.size() < most_ && (docs_.empty() || bytes_ + size <= most_bytes);
    }
    void add(bson::document doc) {
        bytes_ += doc.size();
        docs_.push_back(std::move(doc));
    }
    const std::vector<bson::document>& documents() const noexcept { return docs_; }

    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  private:
    static constexpr std::size_t most_bytes = 16U << 20U;
    std::size_t most_;
    std::size_t looks_;
    std::size_t bytes_ = 0;
    std::vector<bson::document> docs_;
};

/// What stands behind a cursor id. On the set's reactor only.
class cursor {
  public:
    virtual ~cursor() = default;

    /// Adds what there is, without waiting. Throws server_error; the cursor is dead then.
    virtual void fill(batch& out) = 0;
    /// Nothing will ever come any more.
    virtual bool exhausted() const = 0;
    /// Whether a getMore waits when there is nothing yet.
    virtual bool waits() const { return false; }
    /// A change stream's position, empty for others.
    virtual bson::document position() const { return {}; }

    std::int64_t id = 0;
    std::string ns;
    std::string session; ///< the session's id bytes; empty: opened without one
    std::string user;
    bool in_use = false;
    bool killed = false;
};

/// The results of a find or an ordinary aggregate, all of them found when it was opened.
class result_cursor final : public cursor {
  public:
    explicit result_cursor(std::vector<bson::document> docs)
        : docs_(std::move(docs)) {}
    void fill(batch& out) override;
    bool exhausted() const override { return next_ == docs_.size(); }

  private:
    std::vector<bson::document> docs_;
    std::size_t next_ = 0;
};

/// The open cursors of a member.
class cursor_table {
  public:
    void open(const std::shared_ptr<cursor>& c); ///< gives it its id
    std::shared_ptr<cursor> find(std::int64_t id) const;
    /// A getMore that waits on it ends with CursorKilled. Tells whether there was one.
    bool kill(std::int64_t id);
    void kill_session(const std::string& session);
    void kill_all_sessions();
    void kill_sessions_of(const std::string& user);
    std::size_t kill_all();
    std::size_t size() const noexcept { return cursors_.size(); }

  private:
    template <class Which>
    void kill_where(Which which);

    std::unordered_map<std::int64_t, std::shared_ptr<cursor>> cursors_;
};

} // namespace cdc::test::standin
