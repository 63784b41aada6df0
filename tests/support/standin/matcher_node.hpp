// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/standin/matcher.hpp"
#include "tests/support/standin/regex_program.hpp"

#include <string>
#include <vector>

namespace cdc::test::standin {

enum class match_op {
    all_of,
    any_of,
    none_of,
    eq,
    gt,
    gte,
    lt,
    lte,
    in,
    exists,
    regex,
    size,
    elem_match
};

/// One condition of a compiled query, or a list of them.
struct matcher::node {
    match_op what = match_op::all_of;
    std::vector<node> children;
    std::string path_text;
    std::vector<std::string> path;
    bool on_value = false; ///< a condition on one value, without a path
    std::vector<element> operands;
    std::vector<regex_program> patterns;

    node() = default;
    explicit node(match_op w)
        : what(w) {}

    bool matches(bson::view doc) const;
    bool accepts(const bson::cursor* v) const;
    bool accepts_value_alone(const bson::cursor& v) const;
};

} // namespace cdc::test::standin
