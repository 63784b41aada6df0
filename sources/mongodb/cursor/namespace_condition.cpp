// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/cursor/namespace_condition.hpp"

#include <cctype>

namespace cdc::mongodb::cursor {

namespace {

enum class atom_kind {
    dot_free,  ///< can never match a dot
    separator, ///< matches exactly one dot
    wildcard,  ///< a single `.`
    other,     ///< may match a dot
};

/// One element of a regex with its quantifier.
struct atom {
    atom_kind kind;
    std::string_view text;
};

using sequence = std::vector<atom>;

/// Reads the part of the regex language that is understood here. Not a validator: the items were
/// compiled before.
class regex_reader {
  public:
    explicit regex_reader(std::string_view text)
        : text_(text) {}

    /// The alternatives of the whole regex, or nothing when something is not understood.
    std::optional<std::vector<sequence>> read() {
        auto out = alternatives(true);
        if (!out || at_ != text_.size())
            return std::nullopt;
        return out;
    }

  private:
    bool at_end() const { return at_ == text_.size(); }
    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }

    std::optional<std::vector<sequence>> alternatives(bool top) {
        if (++depth_ > 50)
            return std::nullopt;
        std::vector<sequence> out(1);
        while (!at_end() && peek() != ')') {
            if (peek() == '|') {
                ++at_;
                out.emplace_back();
                continue;
            }
            // Items are anchored at both ends anyway, so anchors there say nothing new.
            if (top && peek() == '^' && out.back().empty()) {
                ++at_;
                continue;
            }
            if (top && peek() == '$' && (peek(1) == '|' || at_ + 1 == text_.size())) {
                ++at_;
                continue;
            }
            const auto begin = at_;
            const auto kind = read_atom();
            if (!kind)
                return std::nullopt;
            const auto quantified = read_quantifier();
            if (!quantified)
                return std::nullopt;
            auto k = *kind;
            if (*quantified && (k == atom_kind::separator || k == atom_kind::wildcard))
                k = atom_kind::other;
            out.back().push_back({k, text_.substr(begin, at_ - begin)});
        }
        --depth_;
        return out;
    }

    std::optional<atom_kind> read_atom() {
        const char c = peek();
        switch (c) {
        case '.':
            ++at_;
            return atom_kind::wildcard;
        case '\\':
            return read_escape();
        case '[':
            return read_class();
        case '(':
            return read_group();
        case '^':
        case '$':
        case '*':
        case '+':
        case '?':
        case '{':
            return std::nullopt;
        default:
            break;
        }
        ++at_;
        // A quantifier belongs to a whole character.
        while (static_cast<unsigned char>(c) >= 0x80 &&
               (static_cast<unsigned char>(peek()) & 0xC0U) == 0x80)
            ++at_;
        return atom_kind::dot_free;
    }

    std::optional<atom_kind> read_escape() {
        const char c = peek(1);
        at_ += 2;
        if (c == 'd' || c == 'w' || c == 's')
            return atom_kind::dot_free;
        if (c == 'D' || c == 'W' || c == 'S')
            return atom_kind::other;
        if (c == '.')
            return atom_kind::separator;
        if (c == '\0' || static_cast<unsigned char>(c) >= 0x80 || std::isalnum(c) != 0)
            return std::nullopt;
        return atom_kind::dot_free;
    }

    std::optional<atom_kind> read_class() {
        const auto begin = at_;
        ++at_;
        const bool negated = peek() == '^';
        if (negated)
            ++at_;
        bool dot = false;
        bool first = true;
        while (!at_end() && (peek() != ']' || first)) {
            first = false;
            if (peek() == '[' && (peek(1) == ':' || peek(1) == '.' || peek(1) == '='))
                return std::nullopt;
            bool set = false;
            const auto low = class_member(set);
            if (!low)
                return std::nullopt;
            unsigned char high = *low;
            if (!set && peek() == '-' && peek(1) != ']' && at_ + 1 < text_.size()) {
                ++at_;
                const auto h = class_member(set);
                if (!h || set)
                    return std::nullopt;
                high = *h;
            }
            if (!set && *low <= '.' && '.' <= high)
                dot = true;
        }
        if (at_end())
            return std::nullopt;
        ++at_;
        if (text_.substr(begin, at_ - begin) == "[.]" ||
            text_.substr(begin, at_ - begin) == "[\\.]")
            return atom_kind::separator;
        return dot != negated ? atom_kind::other : atom_kind::dot_free;
    }

    /// One member of a class; its first byte stands for it. `set`: it is a class of its own (\d).
    std::optional<unsigned char> class_member(bool& set) {
        char c = peek();
        ++at_;
        if (c == '\\') {
            c = peek();
            ++at_;
            if (c == 'd' || c == 'w' || c == 's') {
                set = true;
                return static_cast<unsigned char>(c);
            }
            if (c == '\0' || static_cast<unsigned char>(c) >= 0x80 || std::isalnum(c) != 0)
                return std::nullopt;
        }
        while (static_cast<unsigned char>(c) >= 0x80 &&
               (static_cast<unsigned char>(peek()) & 0xC0U) == 0x80)
            ++at_;
        return static_cast<unsigned char>(c);
    }

    std::optional<atom_kind> read_group() {
        ++at_;
        if (peek() == '*')
            return std::nullopt;
        if (peek() == '?') {
            if (peek(1) != ':')
                return std::nullopt;
            at_ += 2;
        }
        const auto inner = alternatives(false);
        if (!inner || peek() != ')')
            return std::nullopt;
        ++at_;
        for (const auto& alternative : *inner)
            for (const auto& a : alternative)
                if (a.kind != atom_kind::dot_free)
                    return atom_kind::other;
        return atom_kind::dot_free;
    }

    /// Whether there was a quantifier; nothing when it is not understood.
    std::optional<bool> read_quantifier() {
        const char c = peek();
        if (c == '*' || c == '+' || c == '?') {
            ++at_;
        } else if (c == '{') {
            auto i = at_ + 1;
            const auto digits = [&] {
                const auto from = i;
                while (i < text_.size() && text_[i] >= '0' && text_[i] <= '9')
                    ++i;
                return i > from;
            };
            if (!digits())
                return std::nullopt;
            if (i < text_.size() && text_[i] == ',') {
                ++i;
                digits();
            }
            if (i >= text_.size() || text_[i] != '}')
                return std::nullopt;
            at_ = i + 1;
        } else {
            return false;
        }
        if (peek() == '?' || peek() == '+')
            ++at_;
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

std::string joined(const sequence& s, std::size_t from, std::size_t to) {
    std::string out;
    for (auto i = from; i < to; ++i)
        out += s[i].text;
    return out;
}

std::string whole(const std::string& regex) {
    return "^(?:" + regex + ")$";
}

void add_conditions(std::vector<namespace_condition>& out, const sequence& s) {
    std::size_t head = 0; // elements in front of whatever may match the first dot
    while (head < s.size() && s[head].kind == atom_kind::dot_free)
        ++head;
    const auto before = joined(s, 0, head);
    const auto prefix = [&]() -> std::optional<std::string> {
        if (before.empty())
            return std::nullopt;
        return "^(?:" + before + ")";
    };
    if (head == s.size()) {
        // Matches no dot, so no namespace at all; this says less but is never wrong.
        out.push_back({prefix(), std::nullopt, false});
        return;
    }
    const auto behind = joined(s, head + 1, s.size());
    if (s[head].kind == atom_kind::separator) {
        out.push_back({whole(before), whole(behind), true});
        return;
    }
    if (s[head].kind == atom_kind::wildcard) {
        out.push_back({whole(before), whole(behind), true});
        out.push_back({"^(?:" + before + ")[^.]", std::nullopt, false});
        return;
    }
    for (auto i = head + 1; i < s.size(); ++i) {
        if (s[i].kind != atom_kind::separator)
            continue;
        // Either this is the dot behind the database, or that one lies further in front and the
        // collection's name has this one in it.
        out.push_back(
            {prefix(), "^(?:[\\s\\S]*\\.)?(?:" + joined(s, i + 1, s.size()) + ")$", false});
        return;
    }
    auto tail = s.size();
    while (tail > head && s[tail - 1].kind == atom_kind::dot_free)
        --tail;
    namespace_condition c{prefix(), std::nullopt, false};
    if (tail < s.size())
        c.collection = "(?:" + joined(s, tail, s.size()) + ")$";
    out.push_back(std::move(c));
}

} // namespace

std::vector<namespace_condition> conditions_of(const pattern& item) {
    if (item.literal()) {
        const std::string_view text = item.text();
        const auto dot = text.find('.');
        const auto coll = dot == std::string_view::npos ? "" : text.substr(dot + 1);
        return {{"^" + pattern::escape(text.substr(0, dot)) + "$",
                 "^" + pattern::escape(coll) + "$", true}};
    }
    const auto parsed = regex_reader(item.text()).read();
    if (!parsed)
        return {namespace_condition{}};
    std::vector<namespace_condition> out;
    for (const auto& alternative : *parsed)
        add_conditions(out, alternative);
    return out;
}

std::optional<std::string> database_regex(const pattern& item) {
    if (item.literal())
        return "^" + pattern::escape(item.text()) + "$";
    if (!regex_reader(item.text()).read())
        return std::nullopt;
    return whole(item.text());
}

} // namespace cdc::mongodb::cursor
