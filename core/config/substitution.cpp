// SPDX-License-Identifier: Apache-2.0
#include "core/config/substitution.hpp"

#include "core/config/mistake.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace cdc::config {

namespace {

constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 20;

struct failed {
    std::string problem;
};

std::string from_file(const std::string& name, const std::filesystem::path& folder) {
    const auto path = folder / name;
    std::error_code ec;
    // A pipe would wait for its writer, for ever if there is none.
    if (!std::filesystem::is_regular_file(path, ec))
        throw failed{
            fmt::format("refers to the file {}, which is {}", printable(name),
                        std::filesystem::exists(path, ec) ? "not a regular file" : "not there")};
    std::ifstream in(path, std::ios::binary);
    std::string text(largest_file + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (in.bad() || (!in && !in.eof()))
        throw failed{fmt::format("refers to the file {}, which cannot be read", printable(name))};
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.size() > largest_file)
        throw failed{
            fmt::format("refers to the file {}, which is larger than 1 MiB", printable(name))};
    if (text.ends_with('\n'))
        text.pop_back();
    if (text.ends_with('\r'))
        text.pop_back();
    return text;
}

std::string expanded(std::string_view reference, const std::filesystem::path& folder,
                     const environment& variables) {
    if (reference.starts_with("env:")) {
        const std::string name(reference.substr(4));
        if (auto value = variables(name))
            return *std::move(value);
        throw failed{fmt::format("refers to the environment variable {}, which is not set",
                                 printable(name))};
    }
    if (reference.starts_with("file:"))
        return from_file(std::string(reference.substr(5)), folder);
    throw failed{"holds a reference other than ${env:NAME} and ${file:PATH}; write $${ for a plain "
                 "${"};
}

/// True when anything was put in.
bool substitute(std::string& text, const std::filesystem::path& folder,
                const environment& variables) {
    if (text.find("${") == std::string::npos)
        return false;
    std::string out;
    bool put_in = false;
    for (std::size_t i = 0; i < text.size();) {
        const std::string_view rest = std::string_view(text).substr(i);
        if (rest.starts_with("$${")) {
            out += "${";
            i += 3;
        } else if (rest.starts_with("${")) {
            const auto end = rest.find('}');
            if (end == std::string_view::npos)
                throw failed{"holds a ${ without its }; write $${ for a plain ${"};
            out += expanded(rest.substr(2, end - 2), folder, variables);
            put_in = true;
            i += end + 1;
        } else {
            out += text[i++];
        }
    }
    text = std::move(out);
    return put_in;
}

} // namespace

environment process_environment() {
    return [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        return value ? std::optional<std::string>(value) : std::nullopt;
    };
}

std::string substitute(raw_value& raw, const std::filesystem::path& folder,
                       const environment& variables) {
    try {
        raw.substituted = substitute(raw.text, folder, variables);
        for (auto& item : raw.items)
            raw.substituted = substitute(item, folder, variables) || raw.substituted;
        return {};
    } catch (failed& failure) {
        return std::move(failure.problem);
    }
}

} // namespace cdc::config
