// SPDX-License-Identifier: Apache-2.0
#include "core/config/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace cdc::config {

namespace {

constexpr std::size_t most_levels = 64;

std::size_t line_of(const YAML::Mark& mark) {
    return mark.is_null() ? 0 : static_cast<std::size_t>(mark.line) + 1;
}

/// Builds the tree from the parser's events. The library's own tree is not used: it loses
/// which keys were given twice.
class tree_builder final : public YAML::EventHandler {
  public:
    std::shared_ptr<const yaml_node> root() const { return root_; }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        add(make(yaml_node::kind_t::null, mark), anchor);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        // An alias of a node that is still open would be a cycle.
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end())
            throw yaml_error(line_of(mark), "an alias refers to what it is part of");
        attach(found->second, line_of(mark));
    }
    void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  const std::string& value) override {
        auto node = make(yaml_node::kind_t::scalar, mark);
        node->text = value;
        add(std::move(node), anchor);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(yaml_node::kind_t::sequence, mark, anchor);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(yaml_node::kind_t::mapping, mark, anchor);
    }
    void OnMapEnd() override { close(); }

  private:
    struct open_node {
        std::shared_ptr<yaml_node> node;
        YAML::anchor_t anchor;
    };

    static std::shared_ptr<yaml_node> make(yaml_node::kind_t kind, const YAML::Mark& mark) {
        auto node = std::make_shared<yaml_node>();
        node->kind = kind;
        node->line = line_of(mark);
        return node;
    }

    void open(yaml_node::kind_t kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
        if (open_.size() >= most_levels)
            throw yaml_error(line_of(mark), too_deep());
        open_.push_back({make(kind, mark), anchor});
    }

    void close() {
        open_node done = std::move(open_.back());
        open_.pop_back();
        add(std::move(done.node), done.anchor);
    }

    void add(std::shared_ptr<const yaml_node> node, YAML::anchor_t anchor) {
        if (anchor != 0)
            anchors_[anchor] = node;
        const std::size_t line = node->line;
        attach(std::move(node), line);
    }

    void attach(std::shared_ptr<const yaml_node> node, std::size_t line) {
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        yaml_node& parent = *open_.back().node;
        parent.height = std::max(parent.height, node->height + 1);
        if (parent.height > most_levels)
            throw yaml_error(line, too_deep());
        parent.children.push_back(std::move(node));
    }

    static std::string too_deep() {
        return fmt::format("is nested deeper than {} levels", most_levels);
    }

    std::shared_ptr<const yaml_node> root_;
    std::vector<open_node> open_;
    std::map<YAML::anchor_t, std::shared_ptr<const yaml_node>> anchors_;
};

/// What the library says, less the part that repeats the text.
std::string reason(const YAML::Exception& e) {
    return e.msg.substr(0, e.msg.find(": "));
}

} // namespace

std::shared_ptr<const yaml_node> parse_yaml(const std::string& text) {
    std::istringstream in(text);
    try {
        YAML::Parser parser(in);
        tree_builder first;
        if (!parser.HandleNextDocument(first) || !first.root())
            return std::make_shared<yaml_node>();
        tree_builder second;
        if (parser.HandleNextDocument(second))
            throw yaml_error(second.root() ? second.root()->line : 0,
                             "holds more than one YAML document");
        return first.root();
    } catch (const YAML::Exception& e) {
        throw yaml_error(line_of(e.mark), "is not valid YAML: " + reason(e));
    }
}

} // namespace cdc::config
