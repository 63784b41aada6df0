// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/client/driver.hpp"

#include <mongoc/mongoc.h>

#include <stdexcept>
#include <string>

namespace cdc::mongodb::client {

namespace {

// Runs under a global mutex of libmongoc, possibly on a fiber: must not suspend and must not throw.
void on_log(mongoc_log_level_t lv, const char* domain, const char* message, void* user) noexcept {
    const auto& logger = *static_cast<const log::logger*>(user);
    try {
        switch (lv) {
        case MONGOC_LOG_LEVEL_ERROR:
        case MONGOC_LOG_LEVEL_CRITICAL:
            logger.error("{}: {}", domain, message);
            break;
        case MONGOC_LOG_LEVEL_WARNING:
            logger.warn("{}: {}", domain, message);
            break;
        default:
            logger.debug("{}: {}", domain, message);
            break;
        }
    } catch (...) {
        // A log line that cannot be formatted is not worth a crash inside the driver.
    }
}

} // namespace

driver::driver(log::logger logger)
    : logger_(std::move(logger)) {
    if (!mongoc_check_version(MONGOC_MAJOR_VERSION, MONGOC_MINOR_VERSION, 0) ||
        mongoc_get_major_version() != MONGOC_MAJOR_VERSION)
        throw std::runtime_error(std::string("built for libmongoc ") + MONGOC_VERSION_S +
                                 ", but the system has " + mongoc_get_version());
    // Before init, so that not even its first lines go to standard error.
    mongoc_log_set_handler(on_log, &logger_);
    mongoc_init();
}

driver::~driver() {
    mongoc_cleanup();
    mongoc_log_set_handler(nullptr, nullptr);
}

const char* driver::version() noexcept {
    return mongoc_get_version();
}

} // namespace cdc::mongodb::client
