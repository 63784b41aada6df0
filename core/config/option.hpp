// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cdc::config {

/// How an option's text is read. Numbers are plain decimal digits; booleans are `true` or `false`
/// and nothing else; the YAML form (quoted or not) makes no difference.
enum class option_type {
    string,
    boolean,
    integer,
    duration_ms, ///< an integer, milliseconds
    bytes,       ///< an integer, or an integer with KiB, MiB or GiB
    enumeration, ///< one of `allowed`
    list,        ///< comma text (`\,` is a comma in an item) or a sequence; blanks around and
                 ///< empty items are dropped
    secret,      ///< a string that is never shown
    path,        ///< relative ones count from the configuration file's folder
};

enum class option_status {
    supported,
    not_supported_yet, ///< a Debezium key that a later version will know; values in `allowed` ask
                       ///< for what happens anyway and are accepted
    renamed,           ///< an old name: refused, `instead` is the name to use
    removed,           ///< an old option: refused, `instead` says what takes its place
    ignored,           ///< belongs to Kafka Connect or means nothing here: a warning, then ignored
};

/// A value that deserves an answer of its own.
struct refused_value {
    std::string_view value;
    std::string_view why;
};

/// One row: everything there is to say about one option. Parsing, checks, `mongocdc options` and
/// the README's tables come from it. The texts live as long as the program.
struct option {
    std::string_view name;
    option_type type = option_type::string;
    /// The default as it would be written in the file; empty: none.
    std::string_view fallback = {};
    std::string_view doc = {}; ///< one line
    std::string_view group = {};
    std::string_view unit = {}; ///< of integers; durations and bytes have theirs by type
    bool required = false;
    bool restart = true; ///< a change needs a restart
    std::optional<std::int64_t> min = {};
    std::optional<std::int64_t> max = {};
    std::vector<std::string_view> allowed = {};
    std::vector<refused_value> refused = {};
    /// A check of its own, after parsing, for each item of a list. Gives the problem, empty: fine.
    /// The text must not repeat the value, which may be a secret or come from a file.
    std::string (*check)(const std::string& value) = nullptr;
    std::string_view allowed_text = {}; ///< what `check` accepts, for messages and the reference
    /// No two places in one configuration may have the same value (a file written to).
    bool exclusive = false;
    /// The row stands for `name` and every key that begins with `name.`.
    bool prefix = false;
    option_status status = option_status::supported;
    std::string_view instead = {}; ///< see option_status; for other states a hint
};

/// The value must never be shown.
inline bool is_secret(const option& row) noexcept {
    return row.type == option_type::secret;
}

/// What the type accepts, in words, with range and allowed values: "an integer, 1 to 65535".
std::string allowed_values(const option& row);

/// The unit shown in the reference: "ms", "bytes", the row's own or nothing.
std::string_view unit_of(const option& row) noexcept;

/// "string", "boolean", ... as in the reference.
std::string_view type_name(option_type type) noexcept;

} // namespace cdc::config
