// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cdc::app::exit_code {

/// What the program's end tells its caller; documented in `mongocdc --help`.
constexpr int stopped = 0;       ///< stopped cleanly, or did what was asked
constexpr int internal = 1;      ///< a bug, or the machine refused something essential
constexpr int configuration = 2; ///< the command line or the configuration is wrong
constexpr int all_failed = 3;    ///< every connector failed, or the stream of `tail`
constexpr int check_failed = 4;  ///< `check`: something that was looked at would not work

} // namespace cdc::app::exit_code
