// SPDX-License-Identifier: Apache-2.0
#include "core/app/mongodb_parts.hpp"

#include "core/app/version.hpp"
#include "core/event/envelope.hpp"
#include "core/json/writer.hpp"
#include "sources/mongodb/modes/connector.hpp"
#include "sources/mongodb/options.hpp"

#include <optional>
#include <utility>

namespace cdc::app {

namespace {

/// The envelope behind the pipeline's interface. It is made with the first event, because its
/// source block names the replica set, which is known once the source has connected.
class envelope_encoder final : public pipeline::encoder {
  public:
    envelope_encoder(const mongodb::streaming::stream_source& source,
                     const mongodb::connector_options& options, bool with_schemas,
                     std::shared_ptr<event::topic_table> topics,
                     std::shared_ptr<const event::field_rules> fields, log::logger logger)
        : source_(source)
        , topics_(std::move(topics))
        , logger_(std::move(logger)) {
        settings_.connector.version = version();
        settings_.connector.name = options.names.prefix;
        settings_.connector.shape = options.event_shape;
        settings_.with_schemas = with_schemas;
        settings_.tombstones_on_delete = options.tombstones_on_delete;
        settings_.formats =
            event::formats_of(options.json_serialization, options.bare_nonfinite_numbers);
        settings_.fields = std::move(fields);
        settings_.transactions = options.transaction_metadata;
        settings_.skip_without_change = options.skip_without_change;
    }

    error::result<void> encode(const event::change_event& e, std::int64_t now_ms,
                               event::record_batch_builder& out) override {
        auto written = envelope().write(e, now_ms, out);
        for (const auto& clash : topics_->take_clashes())
            logger_.warn("{} and {} both go to topic {}: their names differ only in characters "
                         "that a topic cannot have",
                         clash.first, clash.second, clash.topic);
        return written;
    }

    std::string_view over_before(const event::change_event& next) override {
        auto& t = envelope().transaction();
        return t.is_over_before(next) ? std::string_view{t.last_token()} : std::string_view{};
    }
    std::string_view passed_by(const event::position& end) override {
        auto& t = envelope().transaction();
        return t.is_passed_by(end) ? std::string_view{t.last_token()} : std::string_view{};
    }
    void end_transaction(event::record_batch_builder& out) override {
        envelope().write_transaction_end(out);
    }
    std::shared_ptr<const std::string> transaction() override {
        return envelope().transaction().save();
    }
    error::result<void> restore(const std::string& transaction) override {
        if (!settings_.transactions)
            return error::result<void>{};
        return restored_.restore(transaction);
    }

  private:
    event::envelope& envelope() {
        if (!envelope_) {
            settings_.connector.replica_set = source_.set_name();
            envelope_.emplace(settings_, topics_);
            envelope_->transaction() = std::move(restored_);
        }
        return *envelope_;
    }

    const mongodb::streaming::stream_source& source_;
    event::envelope::options settings_;
    std::shared_ptr<event::topic_table> topics_;
    log::logger logger_;
    event::transaction_context restored_;
    std::optional<event::envelope> envelope_;
};

} // namespace

std::string mongodb_identity(const std::string& set_name, const std::string& prefix) {
    if (set_name.empty())
        return {}; // not connected yet
    std::string out;
    {
        json::writer w(out); // closed before the string is handed on
        w.raw(R"({"set":)");
        w.string(set_name);
        w.raw(R"(,"topic.prefix":)");
        w.string(prefix);
        w.raw("}");
    }
    return out;
}

error::result<source_parts> make_mongodb_parts(const config::values& values,
                                               source_environment environment) {
    const auto options = mongodb::make_connector_options(values);
    auto made = mongodb::modes::make_connector_source(
        options, environment.executor, *environment.blocking, environment.logger.named("mongodb"));
    if (!made)
        return made.error();
    auto topics = std::make_shared<event::topic_table>(options.names);
    auto rules = event::field_rules::compile(options.field_exclude, options.field_renames);
    if (!rules)
        return std::move(rules).error();
    std::shared_ptr<const event::field_rules> fields;
    if (!rules->empty())
        fields = std::make_shared<const event::field_rules>(std::move(*rules));
    const mongodb::streaming::stream_source* source = made->get();

    source_parts out;
    out.source = std::move(*made);
    out.make_encoder = [source, options, topics, fields,
                        logger = environment.logger](bool with_schemas) {
        return std::make_shared<envelope_encoder>(*source, options, with_schemas, topics, fields,
                                                  logger);
    };
    out.identity = [source, prefix = options.names.prefix] {
        return mongodb_identity(source->set_name(), prefix);
    };
    out.options.connector = environment.connector;
    out.options.flush_interval = options.offset_flush_interval;
    out.options.queue = {options.max_queue_bytes, options.max_queue_size};
    out.schemas_enable = options.schemas_enable;
    out.shutdown_timeout = options.shutdown_timeout;
    return out;
}

} // namespace cdc::app
