// SPDX-License-Identifier: Apache-2.0
#include "core/config/yaml_reader.hpp"

#include "core/config/yaml_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include <set>
#include <string_view>
#include <unordered_map>

namespace cdc::config {

namespace {

constexpr std::size_t most_values = 100000;
constexpr std::size_t longest_key = 1000;

class flattener {
  public:
    explicit flattener(report& to)
        : to_(to) {}

    raw_values take() { return std::move(out_); }

    void mapping(const yaml_node& node, const std::string& prefix) {
        std::set<std::string_view> seen;
        for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
            const yaml_node& key = *node.children[i];
            const yaml_node& value = *node.children[i + 1];
            count(key.line);
            if (key.kind != yaml_node::kind_t::scalar || key.text.empty()) {
                complain(prefix.empty() ? "" : prefix.substr(0, prefix.size() - 1), key.line,
                         "has a key that is not a text");
                continue;
            }
            const std::string path = prefix + key.text;
            if (path.size() > longest_key) {
                complain(path, key.line, "is too long for a key");
                continue;
            }
            if (!seen.insert(key.text).second) {
                complain(path, key.line, "is given twice in one mapping");
                continue;
            }
            if (value.kind == yaml_node::kind_t::mapping && !value.children.empty())
                mapping(value, path + ".");
            else
                leaf(value, path, key.line);
        }
    }

  private:
    void leaf(const yaml_node& node, const std::string& path, std::size_t line) {
        raw_value raw;
        raw.line = line;
        switch (node.kind) {
        case yaml_node::kind_t::null:
            break;
        case yaml_node::kind_t::mapping:
            raw.kind = raw_value::kind_t::map;
            break;
        case yaml_node::kind_t::scalar:
            raw.kind = raw_value::kind_t::scalar;
            raw.text = raw.written = node.text;
            break;
        case yaml_node::kind_t::sequence:
            raw.kind = raw_value::kind_t::list;
            for (const auto& item : node.children) {
                count(item->line);
                if (item->kind == yaml_node::kind_t::scalar) {
                    raw.items.push_back(item->text);
                } else if (item->kind != yaml_node::kind_t::null) {
                    complain(path, item->line, "holds an item that is not a text");
                    raw.kind = raw_value::kind_t::broken;
                    break;
                }
            }
            raw.written = fmt::format("{}", fmt::join(raw.items, ", "));
            break;
        }
        const auto [first, fresh] = lines_.try_emplace(path, line);
        if (!fresh) {
            complain(path, line,
                     fmt::format("is given twice, first in line {} (dotted and nested keys are the "
                                 "same)",
                                 first->second));
            return;
        }
        out_.emplace_back(path, std::move(raw));
    }

    void count(std::size_t line) {
        if (++values_ > most_values)
            throw yaml_error(line, fmt::format("holds more than {} values", most_values));
    }

    void complain(const std::string& path, std::size_t line, std::string problem) {
        mistake m;
        m.key = printable_key(path);
        m.problem = std::move(problem);
        m.line = line;
        to_.add(std::move(m));
    }

    report& to_;
    raw_values out_;
    std::unordered_map<std::string, std::size_t> lines_;
    std::size_t values_ = 0;
};

void complain(report& to, std::size_t line, std::string problem) {
    mistake m;
    m.problem = std::move(problem);
    m.line = line;
    to.add(std::move(m));
}

} // namespace

raw_values read_yaml(const std::string& text, report& to) {
    if (text.find('\0') != std::string::npos || !simdjson::validate_utf8(text)) {
        complain(to, 0, "is not a text file (UTF-8)");
        return {};
    }
    try {
        const auto root = parse_yaml(text);
        if (root->kind == yaml_node::kind_t::null)
            return {};
        if (root->kind != yaml_node::kind_t::mapping) {
            complain(to, root->line, "is not a mapping of keys to values");
            return {};
        }
        flattener flat(to);
        flat.mapping(*root, {});
        return flat.take();
    } catch (const yaml_error& e) {
        complain(to, e.line, e.what());
        return {};
    }
}

} // namespace cdc::config
