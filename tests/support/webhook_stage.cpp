// SPDX-License-Identifier: Apache-2.0
#include "tests/support/webhook_stage.hpp"

#include "tests/support/await.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

namespace cdc::test {

namespace asio = boost::asio;

std::shared_ptr<const event::record_batch> make_batch(std::uint64_t first,
                                                      const std::vector<record_spec>& records) {
    event::record_batch_builder b(first);
    for (const auto& r : records) {
        b.begin_event(r.token);
        b.begin_record(std::make_shared<const std::string>(r.topic), r.op);
        b.buffer() += r.key;
        b.begin_value();
        b.buffer() += r.value.value_or("");
        b.end_record(!r.value);
    }
    return b.finish();
}

webhook::webhook_options quick_webhook(const std::string& url) {
    webhook::webhook_options out;
    out.url = *webhook::parse_target_url(url);
    out.retry = {std::chrono::milliseconds{1}, std::chrono::milliseconds{4}};
    return out;
}

webhook_stage::webhook_stage(webhook::webhook_options options, std::string connector,
                             std::string name) {
    sink::context context;
    context.executor = reactor_.executor();
    context.blocking = &blocking_;
    context.logger = log::logger(log_, "connector");
    context.connector = std::move(connector);
    context.name = std::move(name);
    context.acknowledge = [this](std::uint64_t from, std::uint64_t to) {
        const std::lock_guard lock(mutex_);
        for (auto s = from; s <= to; ++s)
            acknowledged_.push_back(s);
    };
    sink_ = std::make_unique<webhook::webhook_sink>(std::move(context), std::move(options));
    started_ = await_on(reactor_, sink_->start());
}

webhook_stage::~webhook_stage() {
    if (!stopped_)
        stop();
    // The sink belongs to the reactor, also at its end.
    std::promise<void> gone;
    asio::post(reactor_.executor(), [&] {
        sink_.reset();
        gone.set_value();
    });
    gone.get_future().wait();
}

error::result<void> webhook_stage::write(batches what) {
    return await_on(reactor_, sink_->write(std::move(what)));
}

std::future<error::result<void>> webhook_stage::begin_write(batches what) {
    return asio::co_spawn(reactor_.executor(), sink_->write(std::move(what)), asio::use_future);
}

void webhook_stage::cancel() {
    std::promise<void> done;
    asio::post(reactor_.executor(), [&] {
        sink_->cancel();
        done.set_value();
    });
    done.get_future().wait();
}

std::chrono::steady_clock::duration webhook_stage::stop() {
    const auto begin = std::chrono::steady_clock::now();
    stopped_ = true;
    cancel();
    await_on(reactor_, sink_->stop());
    return std::chrono::steady_clock::now() - begin;
}

sink::state webhook_stage::status() {
    std::promise<sink::state> out;
    asio::post(reactor_.executor(), [&] { out.set_value(sink_->status()); });
    return out.get_future().get();
}

std::vector<std::uint64_t> webhook_stage::acknowledged() const {
    const std::lock_guard lock(mutex_);
    return acknowledged_;
}

} // namespace cdc::test
