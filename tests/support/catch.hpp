// SPDX-License-Identifier: Apache-2.0
// The only file that names a Catch2 header, so that 2.13 and 3.x both work.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
