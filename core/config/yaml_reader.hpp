// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/raw_value.hpp"
#include "core/config/report.hpp"

#include <string>

namespace cdc::config {

/// Takes a YAML (or JSON) text apart into dotted keys: `a: {b.c: 1}` and `a.b: {c: 1}` both give
/// `a.b.c`. Scalars stay texts. Everything wrong goes to `to`: syntax, a key given twice (in one
/// mapping or by two spellings), keys that are not texts, several documents, text that is not
/// UTF-8. Aliases work; `<<` does not exist. Bounded whatever the text: nesting 64 levels, 100000
/// values after aliases were followed. Messages never repeat values.
raw_values read_yaml(const std::string& text, report& to);

} // namespace cdc::config
