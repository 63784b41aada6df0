// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/standin/oplog.hpp"

namespace cdc::test::standin {

/// An entry as a read of local.oplog.rs shows it, in the shape of the 4.4 recordings; what
/// retryable writes add there (lsid, txnNumber, stmtId, prevOpTime) and a drop's numRecords is left
/// out.
bson::document oplog_document(const oplog_entry& entry);

} // namespace cdc::test::standin
