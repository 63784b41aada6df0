// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/difference.hpp"

#include "tests/support/standin/describe.hpp"

#include <algorithm>

namespace cdc::test::standin {

namespace {

class comparison {
  public:
    explicit comparison(const std::vector<std::string>& unequal)
        : unequal_(unequal) {}

    void documents(const std::string& path, bson::view a, bson::view b) {
        bson::cursor x{a};
        bson::cursor y{b};
        while (true) {
            const bool more_x = x.next();
            const bool more_y = y.next();
            if (!more_x && !more_y)
                return;
            if (!more_y) {
                add(path, "lacks " + std::string(x.name()));
                return;
            }
            if (!more_x) {
                add(path, "has " + std::string(y.name()) + " besides");
                return;
            }
            if (x.name() != y.name()) {
                add(path,
                    "field " + std::string(x.name()) + " expected, found " + std::string(y.name()));
                return;
            }
            elements(path.empty() ? std::string(x.name()) : path + "." + std::string(x.name()), x,
                     y);
        }
    }

    std::vector<std::string> found;

  private:
    void elements(const std::string& path, const bson::cursor& x, const bson::cursor& y) {
        if (listed(path + ".*"))
            return;
        if (x.kind() != y.kind()) {
            add(path, std::string(type_name(x.kind())) + " expected, found " +
                          std::string(type_name(y.kind())));
            return;
        }
        if (listed(path))
            return;
        if (x.kind() == bson::type::document || x.kind() == bson::type::array) {
            documents(path, x.as_document(), y.as_document());
            return;
        }
        const bool token = x.kind() == bson::type::string && x.name() == "_data";
        const bool same = token ? without_clock_and_id(std::string(x.as_string())) ==
                                      without_clock_and_id(std::string(y.as_string()))
                                : std::ranges::equal(x.raw_value(), y.raw_value());
        if (!same)
            add(path, describe(x) + " expected, found " + describe(y));
    }

    bool listed(const std::string& path) const {
        return std::ranges::find(unequal_, path) != unequal_.end();
    }
    void add(const std::string& path, const std::string& what) {
        found.push_back(path + ": " + what);
    }

    const std::vector<std::string>& unequal_;
};

} // namespace

std::string without_clock_and_id(std::string data) {
    constexpr std::size_t clock_at = 2;
    constexpr std::size_t clock_size = 16;
    constexpr std::string_view before_id = "5A1004";
    constexpr std::size_t id_mark_at = 32;
    constexpr std::size_t id_size = 32;
    if (data.size() < clock_at + clock_size || !data.starts_with("82"))
        return data;
    data.replace(clock_at, clock_size, clock_size, '0');
    if (data.size() >= id_mark_at + before_id.size() + id_size &&
        std::string_view(data).substr(id_mark_at, before_id.size()) == before_id)
        data.replace(id_mark_at + before_id.size(), id_size, id_size, '0');
    return data;
}

std::vector<std::string> differences(bson::view recorded, bson::view answered,
                                     const std::vector<std::string>& unequal) {
    comparison c(unequal);
    c.documents("", recorded, answered);
    return std::move(c.found);
}

} // namespace cdc::test::standin
