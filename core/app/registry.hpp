// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/app/source_check.hpp"
#include "core/app/source_parts.hpp"
#include "core/config/loader.hpp"
#include "core/config/option_table.hpp"
#include "core/error/result.hpp"
#include "sinks/sink.hpp"

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cdc::app {

struct source_kind {
    std::string name; ///< as in `source:`
    const config::option_table* options;
    /// Makes the source and what belongs to it from checked values of `options`.
    make_source_parts make;
    check_source check = {}; ///< for `mongocdc check`; without one only sinks are looked at
};

struct sink_kind {
    std::string name; ///< as in `type:`
    const config::option_table* options;
    /// Makes a sink from checked values of `options`.
    std::function<std::unique_ptr<sink::sink>(sink::context, const config::values&)> make;
    /// Whether such a sink could deliver, for `mongocdc check`: delivers nothing, changes nothing,
    /// and ends by itself within the sink's own time limits. Gives what was found, for people. The
    /// context's `acknowledge` must not be called. Without one the check says that it cannot tell.
    std::function<boost::asio::awaitable<error::result<std::string>>(sink::context, config::values)>
        check = {};
};

/// The explicit list of what a configuration can name. A new sink or source is a row here and
/// nothing else. Immutable once made; must outlive what was made from it.
struct registry {
    std::vector<source_kind> sources;
    std::vector<sink_kind> sinks;

    /// nullptr: there is none of that name.
    const source_kind* source(std::string_view name) const noexcept;
    const sink_kind* sink(std::string_view name) const noexcept;

    config::known_kinds kinds() const;
    /// All tables in the order of the reference: the service, sources, sinks.
    std::vector<const config::option_table*> tables() const;
};

registry make_registry();

} // namespace cdc::app
