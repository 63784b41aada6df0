// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/app/registry.hpp"
#include "core/config/loader.hpp"
#include "sources/mongodb/options.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_data.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace cdc::test {

using strings = std::vector<std::string>;

/// A configuration file in a folder of its own.
class written {
  public:
    explicit written(const std::string& text) { std::ofstream(file()) << text; }
    std::filesystem::path file() const { return dir_.path() / "config.yaml"; }
    std::filesystem::path folder() const { return dir_.path(); }
    void also(const std::string& name, const std::string& text) const {
        std::ofstream(dir_.path() / name) << text;
    }

    config::loaded load() const { return config::load(file(), app::make_registry().kinds()); }
    config::configuration good() const {
        auto loaded = load();
        for (const auto& m : loaded.found.mistakes())
            FAIL_CHECK(m.text());
        REQUIRE(loaded.result);
        return *loaded.result;
    }
    strings mistakes() const {
        const auto loaded = load();
        CHECK(loaded.result.has_value() == loaded.found.mistakes().empty());
        strings out;
        for (const auto& m : loaded.found.mistakes())
            out.push_back(m.text());
        return out;
    }

  private:
    temp_dir dir_;
};

/// A good file with a connector `a`; `options` (lines "key: value") and `sink` are put in.
inline std::string with(const std::string& options, const std::string& sink = "type: discard") {
    std::istringstream in(options);
    std::string out = "connectors:\n  a:\n    source: mongodb\n";
    const auto add = [&](const std::string& key, const std::string& line) {
        if (("\n" + options).find("\n" + key) == std::string::npos)
            out += "    " + line + "\n";
    };
    add("mongodb.connection.string", "mongodb.connection.string: mongodb://h/?replicaSet=rs0");
    add("topic.prefix", "topic.prefix: p");
    add("snapshot.mode", "snapshot.mode: no_data");
    for (std::string line; std::getline(in, line);)
        out += "    " + line + "\n";
    return out + "    sinks:\n      out: {" + sink + "}\n";
}

inline mongodb::connector_options options_of(const std::string& options) {
    return mongodb::make_connector_options(written(with(options)).good().connectors.at(0).options);
}

inline strings mistakes_of(const std::string& options, const std::string& sink = "type: discard") {
    return written(with(options, sink)).mistakes();
}

} // namespace cdc::test
