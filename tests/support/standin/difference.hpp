// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"

#include <string>
#include <vector>

namespace cdc::test::standin {

/// How two documents differ: field by field, in order, types and values, all the way down; one line
/// a difference. Empty: equal.
///
/// `unequal` names dotted paths whose values cannot be equal between two servers (only the type is
/// compared there); a trailing `.*` means everything below, shape included. Resume tokens (`_data`)
/// are compared without the bytes of their clock and of the collection's id.
std::vector<std::string> differences(bson::view recorded, bson::view answered,
                                     const std::vector<std::string>& unequal);

/// The hex of a token with its clock and its collection's id as zeros.
std::string without_clock_and_id(std::string token_data);

} // namespace cdc::test::standin
