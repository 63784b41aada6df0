// SPDX-License-Identifier: Apache-2.0
// Catch2 2.13 makes its main here; with 3.x the library brings it and this file is empty.
#define CATCH_CONFIG_MAIN
#include "tests/support/catch.hpp"
