// SPDX-License-Identifier: Apache-2.0
#include "core/app/command_line.hpp"

#include "core/app/exit_code.hpp"
#include "core/app/version.hpp"
#include "core/log/redactor.hpp"

#include <CLI/CLI.hpp>

#include <sstream>
#include <utility>

namespace cdc::app {

namespace {

constexpr const char* footer = R"(Exit codes:
  0  stopped cleanly, or did what was asked
  1  internal error
  2  the command line or the configuration is wrong
  3  every connector failed (tail: the stream failed)
  4  check: something would not work

Environment:
  MONGOCDC_LOG  as --log-level, which overrides it)";

constexpr const char* level_help =
    "What to log: trace, debug, info, warn or error; single components by name: "
    "info,mongodb=debug";

/// A command's --log-level with its default.
struct level_option {
    std::string text;
    const CLI::Option* option;

    level_option(CLI::App& command, const char* by_default)
        : text(by_default)
        , option(command.add_option("--log-level", text, level_help)->capture_default_str()) {}
    level_option(const level_option&) = delete;
    level_option& operator=(const level_option&) = delete;

    /// Nothing when it is wrong, which was said then.
    std::optional<log::levels> levels(const char* variable, std::ostream& err) const {
        const bool from_variable = option->count() == 0 && variable && *variable;
        auto out = log::levels::parse(from_variable ? variable : text.c_str());
        if (!out)
            err << (from_variable ? "MONGOCDC_LOG" : "--log-level")
                << ": is not a level; allowed: trace, debug, info, warn, error, also "
                   "level,component=level,...\n";
        return out;
    }
};

/// A flag of `tail` that stands for an option of the source.
struct tail_flag {
    const char* flag;
    const char* option;
    const char* help;
};
constexpr tail_flag list_flags[] = {
    {"--database-include", "database.include.list", "Only these databases (names or regexes)"},
    {"--database-exclude", "database.exclude.list", "Not these databases"},
    {"--collection-include", "collection.include.list",
     "Only these collections, as database.collection (names or regexes)"},
    {"--collection-exclude", "collection.exclude.list", "Not these collections"},
};

/// `tail` and where its arguments go.
class tail_arguments {
  public:
    explicit tail_arguments(CLI::App& app)
        : tail_(app.add_subcommand("tail", "Print the changes of a deployment from now on, one "
                                           "event a line; stores nothing"))
        , level_(*tail_, "warn") {
        tail_->add_option("URI", command_.uri, "Where the deployment is (mongodb://...)")
            ->required();
        tail_->add_flag("--full", command_.full,
                        "Each event as {\"schema\": ..., \"payload\": ...}, not the payload alone");
        tail_->add_flag("--pretty", command_.pretty, "Indent events, over several lines each");
        tail_->add_option("--limit", limit_, "End behind so many events")
            ->check(CLI::PositiveNumber);
        auto* db = tail_->add_option("--db", db_, "Open the stream on this database");
        tail_
            ->add_option("--collection", collection_,
                         "Open the stream on this collection, as database.collection")
            ->excludes(db);
        tail_->add_option("--capture-mode", mode_,
                          "change_streams or change_streams_update_full (the default): whether an "
                          "update carries the document as it is now");
        lists_.resize(std::size(list_flags));
        for (std::size_t i = 0; i < lists_.size(); ++i)
            tail_
                ->add_option(list_flags[i].flag, lists_[i],
                             std::string(list_flags[i].help) +
                                 "; separated by commas, may be given again")
                ->take_all()
                ->allow_extra_args(false);
        tail_->footer(footer);
    }

    bool parsed() const { return tail_->parsed(); }

    any_command result(const char* variable, std::ostream& err) {
        const auto levels = level_.levels(variable, err);
        if (!levels)
            return finished{exit_code::configuration};
        command_.levels = *levels;
        if (limit_ > 0)
            command_.limit = limit_;
        const auto give = [this](const char* option, const std::string& text) {
            command_.options.emplace_back(option, text);
        };
        if (!mode_.empty())
            give("capture.mode", mode_);
        if (!db_.empty() || !collection_.empty()) {
            give("capture.scope", db_.empty() ? "collection" : "database");
            give("capture.target", db_.empty() ? collection_ : db_);
        }
        for (std::size_t i = 0; i < lists_.size(); ++i) {
            std::string items;
            for (const auto& item : lists_[i])
                items += (items.empty() ? "" : ",") + item;
            if (!items.empty())
                give(list_flags[i].option, items);
        }
        return std::move(command_);
    }

  private:
    CLI::App* tail_;
    level_option level_;
    tail_command command_;
    std::uint64_t limit_ = 0;
    std::string db_;
    std::string collection_;
    std::string mode_;
    std::vector<std::vector<std::string>> lists_;
};

} // namespace

any_command parse_command_line(int argc, const char* const* argv, const char* log_variable,
                               std::ostream& out, std::ostream& err) {
    CLI::App app("Watches MongoDB replica sets and delivers their changes as events.", "mongocdc");
    app.set_version_flag("--version", "mongocdc " + std::string(version()),
                         "Print the version and end");
    app.footer(footer);
    app.require_subcommand(1);

    constexpr const char* config_help = "The configuration file (YAML or JSON)";
    std::string config;
    bool markdown = false;
    auto* run = app.add_subcommand("run", "Run the connectors of a configuration file until "
                                          "SIGTERM or SIGINT");
    run->add_option("CONFIG", config, config_help)->required();
    level_option run_level(*run, "info");
    run->footer(footer);
    auto* check = app.add_subcommand("check", "Try everything that a configuration file needs and "
                                              "print what works; changes nothing");
    check->add_option("CONFIG", config, config_help)->required();
    level_option check_level(*check, "error");
    check->footer(footer);
    tail_arguments tail(app);
    auto* options = app.add_subcommand("options", "Print the reference of all options");
    options->add_flag("--markdown", markdown, "As Markdown tables");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        std::ostringstream complaint; // may quote arguments
        const int code = app.exit(e, out, complaint);
        err << log::redactor().clean(complaint.str());
        return finished{code == 0 ? exit_code::stopped : exit_code::configuration};
    }

    if (options->parsed())
        return options_command{markdown};
    if (tail.parsed())
        return tail.result(log_variable, err);
    const auto levels = (run->parsed() ? run_level : check_level).levels(log_variable, err);
    if (!levels)
        return finished{exit_code::configuration};
    if (run->parsed())
        return run_command{config, *levels};
    return check_command{config, *levels};
}

} // namespace cdc::app
