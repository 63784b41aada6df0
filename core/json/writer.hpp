// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace cdc::json {

/// Appends JSON text to a string that the caller owns and keeps alive. It only appends: brackets,
/// commas and order are the caller's business, so no state is kept and nothing is allocated but the
/// string's own growth.
///
/// While a writer is open it owns the string's tail: the string may be longer than what was
/// written. `close()` (or the destructor) cuts it to size; until then the string must not be used.
/// Not thread-safe.
class writer {
  public:
    explicit writer(std::string& out) noexcept
        : out_(out)
        , at_(out.data() + out.size())
        , end_(at_) {}
    ~writer() { close(); }
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;

    /// Room for at least `size` more bytes; write there, then tell how far with `advance_to`.
    char* need(std::size_t size) {
        if (static_cast<std::size_t>(end_ - at_) < size) [[unlikely]]
            grow(size);
        return at_;
    }
    void advance_to(char* at) noexcept { at_ = at; }

    /// Bytes as they are.
    void raw(std::string_view text) {
        if (static_cast<std::size_t>(end_ - at_) < text.size()) [[unlikely]] {
            append_past_end(text);
            return;
        }
        std::memcpy(at_, text.data(), text.size());
        at_ += text.size();
    }
    void integer(std::int64_t value);
    /// A JSON string with its quotes, escaped as Kafka's JsonConverter does: the quote, the
    /// backslash and control characters below U+0020, nothing else. What is not UTF-8 becomes
    /// U+FFFD, so the output is always valid.
    void string(std::string_view text);

    /// Cuts the string to what was written. The writer may be used on.
    void close() noexcept;

  private:
    void grow(std::size_t size);
    void append_past_end(std::string_view text);

    std::string& out_;
    char* at_;
    char* end_;
};

} // namespace cdc::json
