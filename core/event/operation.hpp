// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cdc::event {

/// What happened. The first four become data records (Debezium's `op` is the enumerator's value), a
/// control event becomes a control record; the others never become any.
enum class operation : char {
    create = 'c',
    update = 'u', ///< update and replace
    remove = 'd',
    read = 'r',       ///< a document of a copy
    control = 'm',    ///< not about a document (see control_record)
    invalidate = 'i', ///< the stream ends here (drop or rename of what it watches)
    other = 'o',      ///< an operation type this program does not turn into records
};

} // namespace cdc::event
