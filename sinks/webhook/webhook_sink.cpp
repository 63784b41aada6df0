// SPDX-License-Identifier: Apache-2.0
#include "sinks/webhook/webhook_sink.hpp"

#include "core/runtime/blocking_pool.hpp"
#include "sinks/webhook/answer_policy.hpp"
#include "sinks/webhook/retry_after.hpp"

#include <boost/beast/http/status.hpp>
#include <fmt/format.h>

#include <random>

namespace cdc::webhook {

namespace asio = boost::asio;
using error::errc;

namespace {

/// Bodies beyond this many bytes are signed on the blocking pool: it takes a millisecond or so.
constexpr std::size_t large_body = 1024 * 1024;

std::optional<signer> signer_of(const std::vector<std::uint8_t>& key) {
    return key.empty() ? std::nullopt : std::optional<signer>(key);
}

/// "answered 503 Service Unavailable": the words are ours, not the server's.
std::string answered(unsigned status) {
    const auto known = boost::beast::http::int_to_status(status);
    if (known == boost::beast::http::status::unknown)
        return fmt::format("answered {}", status);
    const auto words = boost::beast::http::obsolete_reason(known);
    return fmt::format("answered {} {}", status, std::string_view(words.data(), words.size()));
}

} // namespace

webhook_sink::webhook_sink(cdc::sink::context context, webhook_options options)
    : context_(std::move(context))
    , options_(std::move(options))
    , where_(fmt::format("webhook {} ({})", context_.name, options_.url.shown()))
    , requests_(context_.connector, context_.name, signer_of(options_.signing_key),
                options_.bearer_token)
    , client_(context_.executor, options_.url,
              {.connect = options_.connect_timeout,
               .write = options_.write_timeout,
               .answer = options_.answer_timeout},
              context_.logger)
    , retries_(options_.retry, options_.retry_after_cap, std::random_device{}())
    , wake_(context_.executor) {}

webhook_sink::~webhook_sink() = default;

error::result<void> webhook_sink::usable() const {
    if (cancelled_)
        return error::fail(errc::cancelled, "cancelled");
    if (failure_)
        return *failure_;
    return {};
}

asio::awaitable<error::result<void>> webhook_sink::start() {
    if (options_.url.tls) {
        auto load = [this] { return client_.trust(options_.ca_file); };
        auto loaded = co_await context_.blocking->run(load);
        if (!loaded) {
            failure_ = loaded.error();
            failure_->text = fmt::format("{}: tls.ca.file: {}", where_, failure_->text);
        }
    }
    co_return usable();
}

asio::awaitable<error::result<void>>
webhook_sink::write(std::vector<std::shared_ptr<const event::record_batch>> batches) {
    for (auto& batch : batches) {
        for (std::size_t i = 0; i < batch->size(); ++i) {
            if (auto r = usable(); !r)
                co_return r;
            auto delivered = co_await deliver((*batch)[i]);
            if (!delivered) {
                if (!failure_ && !cancelled_)
                    failure_ = delivered.error();
                co_return usable();
            }
        }
        batch.reset();
    }
    co_return usable();
}

asio::awaitable<error::result<void>> webhook_sink::deliver(event::record r) {
    const std::string id = requests_.id_of(r);
    auto request = requests_.make(r, id);
    if (!request) {
        auto d = request.error();
        d.text = fmt::format("{}: {}", where_, d.text);
        co_return d;
    }
    for (;;) {
        co_await stamp(*request, id);
        if (auto u = usable(); !u)
            co_return u;
        auto answer = co_await client_.post(*request);
        if (auto u = usable(); !u)
            co_return u;
        if (!answer && answer.error().code == errc::internal)
            co_return answer.error();
        switch (answer ? judge(answer->status) : verdict::retry) {
        case verdict::delivered:
            recovered();
            context_.acknowledge(r.sequence, r.sequence);
            co_return error::result<void>{};
        case verdict::refused:
            co_return error::fail(
                errc::server,
                fmt::format("{} {} to a record of topic {} ({}){}", where_,
                            answered(answer->status), r.topic, id,
                            answer->status / 100 == 3 ? "; redirects are not followed" : ""));
        case verdict::retry:
            break;
        }
        std::string reason = answer ? answered(answer->status) : answer.error().text;
        std::optional<std::string> retry_after;
        if (answer)
            retry_after = std::move(answer->retry_after);
        co_await wait_before_retry(std::move(reason), std::move(retry_after));
    }
}

asio::awaitable<void> webhook_sink::stamp(http_request& request, const std::string& id) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
    auto work = [this, &request, &id, seconds] { requests_.stamp(request, id, seconds); };
    if (requests_.signs() && request.body.size() > large_body)
        co_await context_.blocking->run(work);
    else
        work();
}

asio::awaitable<void> webhook_sink::wait_before_retry(std::string reason,
                                                      std::optional<std::string> retry_after) {
    std::optional<std::chrono::seconds> asked;
    if (retry_after)
        asked = parse_retry_after(*retry_after, std::chrono::system_clock::now());
    const auto step = retries_.failed(asked);
    reason_ = std::move(reason);
    if (step.capped)
        context_.logger.warn("{} asks to wait {} s; retry.after.cap.ms allows {} ms", where_,
                             asked->count(), options_.retry_after_cap.count());
    if (step.say)
        context_.logger.warn("{}: attempt {} failed, again in {} ms: {}", where_,
                             retries_.failures(), step.wait.count(), reason_);
    const auto until = std::chrono::steady_clock::now() + step.wait;
    while (!cancelled_) {
        const auto left = until - std::chrono::steady_clock::now();
        if (left <= std::chrono::steady_clock::duration::zero())
            break;
        co_await wake_.wait_for(left);
    }
}

void webhook_sink::recovered() {
    reason_.clear();
    if (const unsigned failures = retries_.delivered(); failures > 0)
        context_.logger.info("{} takes records again after {} failed attempts", where_, failures);
}

asio::awaitable<error::result<void>> webhook_sink::flush() {
    // Whatever was written was delivered before `write` returned.
    co_return usable();
}

void webhook_sink::cancel() noexcept {
    cancelled_ = true;
    client_.cancel();
    wake_.notify();
}

asio::awaitable<void> webhook_sink::stop() {
    cancelled_ = true;
    co_await client_.stop();
}

cdc::sink::state webhook_sink::status() const {
    if (retries_.failures() == 0)
        return {};
    return {cdc::sink::activity::retrying, retries_.failures(), reason_};
}

} // namespace cdc::webhook
