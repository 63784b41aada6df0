// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cdc::mongodb {

/// What is most often wrong with a connection string, before the driver is asked: the scheme, a
/// missing host, a port that is none, and characters in user name or password that must be
/// percent-encoded. Gives the problem, empty: nothing found. Never repeats any part of the string.
std::string check_connection_string(const std::string& uri);

/// Whether a connection string in which nothing was found wrong names exactly one host; an SRV name
/// stands for any number.
bool names_one_host(const std::string& uri);

} // namespace cdc::mongodb
