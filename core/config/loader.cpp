// SPDX-License-Identifier: Apache-2.0
#include "core/config/loader.hpp"

#include "core/config/nearest.hpp"
#include "core/config/yaml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace cdc::config {

namespace {

constexpr std::size_t largest_file = std::size_t{1} << 20;
constexpr std::string_view connectors_key = "connectors";
constexpr std::string_view sinks_key = "sinks";

/// Entries below one name, in the file's order.
struct group {
    std::string name;
    std::size_t line = 0;
    raw_values entries;
};

std::pair<std::string, std::string> split(const std::string& key) {
    const auto dot = key.find('.');
    if (dot == std::string::npos)
        return {key, {}};
    return {key.substr(0, dot), key.substr(dot + 1)};
}

bool is_name(std::string_view text) {
    return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                   "0123456789_-") == std::string_view::npos;
}

/// One reading of one file: holds what the steps share.
class reading {
  public:
    reading(const known_kinds& kinds, const environment& variables, report& to)
        : kinds_(kinds)
        , variables_(variables)
        , to_(to) {}

    configuration run(const std::filesystem::path& file) {
        configuration out;
        out.file = std::filesystem::absolute(file);
        folder_ = out.file.parent_path();
        const auto text = contents(file);
        if (!text)
            return out;
        raw_values all = read_yaml(*text, to_);
        if (all.empty() && !to_.mistakes().empty())
            return out;
        for (auto& [key, raw] : all) {
            if (auto problem = substitute(raw, folder_, variables_); !problem.empty()) {
                raw.kind = raw_value::kind_t::broken;
                complain(printable_key(key), raw.line, std::move(problem));
            }
        }
        const std::size_t before = to_.mistakes().size();
        auto [service, connectors] = take_apart(std::move(all));
        if (connectors.empty() && to_.mistakes().size() == before)
            complain(std::string(connectors_key), 0,
                     "is missing: there is nothing to do without a connector",
                     "a mapping of connector names to their options");
        read_service(service, out);
        for (auto& connector : connectors)
            read_connector(connector, out);
        return out;
    }

  private:
    std::optional<std::string> contents(const std::filesystem::path& file) {
        std::error_code ec;
        if (std::filesystem::is_directory(file, ec)) {
            complain({}, 0, "is a folder, not a configuration file");
            return std::nullopt;
        }
        errno = 0;
        std::ifstream in(file, std::ios::binary);
        if (!in) {
            complain({}, 0,
                     fmt::format("cannot be read: {}", std::generic_category().message(errno)));
            return std::nullopt;
        }
        std::string text(largest_file + 1, '\0');
        in.read(text.data(), static_cast<std::streamsize>(text.size()));
        text.resize(static_cast<std::size_t>(in.gcount()));
        if (text.size() > largest_file) {
            complain({}, 0, "is larger than 1 MiB");
            return std::nullopt;
        }
        return text;
    }

    /// The service's own entries, and those of each connector.
    std::pair<raw_values, std::vector<group>> take_apart(raw_values all) {
        raw_values service;
        raw_values connectors;
        std::set<std::string> reported;
        for (auto& [key, raw] : all) {
            const std::string first = split(key).first;
            if (first == connectors_key) {
                connectors.emplace_back(key.substr(std::min(key.size(), first.size() + 1)),
                                        std::move(raw));
            } else if (is_service_key(first)) {
                service.emplace_back(key, std::move(raw));
            } else if (reported.insert(first).second) {
                mistake m;
                m.key = printable_key(first);
                m.problem = "is not a known key";
                m.allowed = "state, connectors";
                m.nearest = nearest(first, {"state", connectors_key});
                m.line = raw.line;
                to_.add(std::move(m));
            }
        }
        return {std::move(service),
                groups(std::move(connectors), std::string(connectors_key), "connector")};
    }

    static bool is_service_key(const std::string& first) {
        const auto& rows = service_table().rows();
        return std::any_of(rows.begin(), rows.end(), [&](const option& row) {
            return row.name.substr(0, row.name.find('.')) == first;
        });
    }

    /// Groups entries by their first name; `path` is where they stand.
    std::vector<group> groups(raw_values entries, const std::string& path, std::string_view what) {
        std::vector<group> out;
        std::map<std::string, std::size_t> index;
        std::set<std::string> reported;
        for (auto& [key, raw] : entries) {
            auto [name, rest] = split(key);
            if (key.empty()) {
                // `connectors: {}` and `connectors:` are as if it was not there.
                if (raw.kind != raw_value::kind_t::map && raw.kind != raw_value::kind_t::null)
                    complain(path, raw.line,
                             fmt::format("is not a mapping of {} names to their options", what));
                continue;
            }
            if (!is_name(name)) {
                if (reported.insert(name).second)
                    complain(fmt::format("{}.{}", path, printable_key(name)), raw.line,
                             fmt::format("is not a {} name", what), "letters, digits, _ and -");
                continue;
            }
            if (const auto [at, fresh] = index.try_emplace(name, out.size()); fresh)
                out.push_back({name, raw.line, {}});
            if (!rest.empty()) {
                out[index[name]].entries.emplace_back(std::move(rest), std::move(raw));
            } else if (raw.kind != raw_value::kind_t::map && raw.kind != raw_value::kind_t::null) {
                complain(
                    fmt::format("{}.{}", path, name), raw.line,
                    fmt::format("is not a mapping: a {}'s options belong below its name", what));
            }
        }
        return out;
    }

    void read_service(raw_values& entries, configuration& out) {
        bool in_memory = false;
        for (const auto& [key, raw] : entries)
            in_memory = in_memory || (key == "state.path" && raw.text == "memory");
        const values read = service_table().read(entries, "", folder_, to_);
        if (in_memory || !read.has("state.path"))
            return;
        out.state_path = read.path("state.path");
        taken_.emplace(place_of(*out.state_path), "state.path");
    }

    void read_connector(group& connector, configuration& out) {
        const std::string path = fmt::format("{}.{}.", connectors_key, connector.name);
        raw_values options, sinks;
        const option_table* table = nullptr;
        std::string source;
        bool has_source = false, odd_sinks = false;
        for (auto& [key, raw] : connector.entries) {
            const std::string first = split(key).first;
            if (key == "source") {
                has_source = true;
                source = raw.text;
                table = chosen(kinds_.sources, path + key, raw);
            } else if (first == sinks_key) {
                sinks.emplace_back(key.substr(std::min(key.size(), sinks_key.size() + 1)),
                                   std::move(raw));
            } else if (key != first && nearest(first, {sinks_key}) == sinks_key &&
                       (!table || !table->find(key))) {
                if (!std::exchange(odd_sinks, true))
                    complain(path + printable_key(first), raw.line, "is not a known key", {},
                             std::string(sinks_key));
            } else {
                options.emplace_back(key, std::move(raw));
            }
        }
        if (!has_source)
            complain(path + "source", connector.line, "is missing", names_of(kinds_.sources));

        connector_config read{connector.name, source, values(service_table()), {}};
        if (table) {
            read.options = table->read(options, path, folder_, to_);
            collect(read.options, path, out);
        }
        const std::size_t before = to_.mistakes().size();
        auto named = groups(std::move(sinks), path + std::string(sinks_key), "sink");
        if (named.empty() && !odd_sinks && to_.mistakes().size() == before)
            complain(path + std::string(sinks_key), connector.line,
                     "is missing: a connector needs at least one sink",
                     "a mapping of sink names to their type and options");
        for (auto& sink : named)
            read_sink(sink, path, read, out);
        out.connectors.push_back(std::move(read));
    }

    void read_sink(group& sink, const std::string& connector_path, connector_config& into,
                   configuration& out) {
        const std::string path = fmt::format("{}{}.{}.", connector_path, sinks_key, sink.name);
        raw_values options;
        const option_table* table = nullptr;
        std::string type;
        bool has_type = false;
        for (auto& [key, raw] : sink.entries) {
            if (key == "type") {
                has_type = true;
                type = raw.text;
                table = chosen(kinds_.sinks, path + key, raw);
            } else {
                options.emplace_back(key, std::move(raw));
            }
        }
        if (!has_type)
            complain(path + "type", sink.line, "is missing", names_of(kinds_.sinks));
        if (!table)
            return;
        values read = table->read(options, path, folder_, to_);
        collect(read, path, out);
        into.sinks.push_back({sink.name, type, std::move(read)});
    }

    /// The table that a `source` or `type` names.
    const option_table* chosen(const known_kinds::named_tables& tables, const std::string& key,
                               const raw_value& raw) {
        if (raw.kind == raw_value::kind_t::broken)
            return nullptr;
        std::vector<std::string_view> names;
        for (const auto& [name, table] : tables) {
            if (raw.kind == raw_value::kind_t::scalar && name == raw.text)
                return table;
            names.push_back(name);
        }
        mistake m;
        m.key = key;
        m.value = printable(raw.written);
        m.problem = raw.kind == raw_value::kind_t::scalar ? "is not allowed" : "is not a text";
        m.allowed = names_of(tables);
        if (!raw.substituted)
            m.nearest = nearest(raw.text, names);
        m.line = raw.line;
        to_.add(std::move(m));
        return nullptr;
    }

    /// What is checked over all connectors and sinks: secrets and values that may exist only once.
    void collect(const values& read, const std::string& path, configuration& out) {
        for (const auto& row : read.table().rows()) {
            if (row.status != option_status::supported || !read.has(row.name))
                continue;
            if (is_secret(row))
                out.secrets.push_back(read.text(row.name));
            if (!row.exclusive)
                continue;
            const std::string key = path + std::string(row.name);
            const auto place =
                row.type == option_type::path ? place_of(read.path(row.name)) : read.text(row.name);
            const auto [first, fresh] = taken_.try_emplace(place, key);
            if (!fresh)
                complain(key, 0,
                         fmt::format("is the same as {}: only one may use it", first->second));
        }
    }

    /// Two spellings of one file are one place.
    static std::string place_of(const std::filesystem::path& path) {
        std::error_code ec;
        const auto canonical = std::filesystem::weakly_canonical(path, ec);
        return ec ? path.string() : canonical.string();
    }

    static std::string names_of(const known_kinds::named_tables& tables) {
        std::string out;
        for (const auto& [name, table] : tables)
            out += (out.empty() ? "" : ", ") + name;
        return out;
    }

    void complain(std::string key, std::size_t line, std::string problem, std::string allowed = {},
                  std::string near = {}) {
        mistake m;
        m.key = std::move(key);
        m.problem = std::move(problem);
        m.allowed = std::move(allowed);
        m.nearest = std::move(near);
        m.line = line;
        to_.add(std::move(m));
    }

    const known_kinds& kinds_;
    const environment& variables_;
    report& to_;
    std::filesystem::path folder_;
    std::map<std::string, std::string> taken_; ///< exclusive values -> the key that has it
};

} // namespace

const option_table& service_table() {
    static const option_table table(
        "service", "The service",
        {{.name = "state.path",
          .type = option_type::path,
          .fallback = "./mongocdc.db",
          .doc = "SQLite file that keeps the positions; the word memory keeps nothing, so that "
                 "every start begins anew",
          .group = "State",
          .allowed_text = "a path, or memory"}});
    return table;
}

loaded load(const std::filesystem::path& file, const known_kinds& kinds,
            const environment& variables) {
    loaded out;
    configuration read = reading(kinds, variables, out.found).run(file);
    out.found.sort();
    if (out.found.mistakes().empty())
        out.result = std::move(read);
    return out;
}

} // namespace cdc::config
