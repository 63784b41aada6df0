// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_data.hpp"

#include <cstdlib>
#include <stdexcept>

namespace cdc::test {

std::filesystem::path data_path(const std::string& name) {
    if (const char* set = std::getenv("MONGOCDC_TEST_DATA"))
        return std::filesystem::path(set) / name;
    return std::filesystem::path("tests/data") / name;
}

temp_dir::temp_dir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mongocdc-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
        throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
}

temp_dir::~temp_dir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

} // namespace cdc::test
