// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/client/handshake_limit.hpp"

#include "core/runtime/wake_slot.hpp"

#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <deque>
#include <utility>

namespace cdc::mongodb::client {

namespace asio = boost::asio;

namespace {

/// Asio's own way to hang something on an io_context that goes away with it.
class limit_service final : public asio::execution_context::service {
  public:
    using key_type = limit_service;
    static asio::execution_context::id id;

    explicit limit_service(asio::execution_context& owner)
        : service(owner) {}
    handshake_limit limit;

  private:
    void shutdown() override {}
};

asio::execution_context::id limit_service::id;

} // namespace

struct handshake_limit::impl {
    int in_use = 0;
    std::deque<runtime::wake_slot*> waiting;
};

class handshake_limit::turn_state {
  public:
    turn_state(handshake_limit& owner, const asio::any_io_executor& reactor)
        : owner_(owner)
        , timer_(reactor, longest_turn) {}
    ~turn_state() { give_back(); }

    static void limit_time(const turn& t) {
        t->timer_.async_wait([weak = std::weak_ptr<turn_state>(t)](boost::system::error_code) {
            if (const auto self = weak.lock())
                self->give_back();
        });
    }

  private:
    void give_back() {
        if (!std::exchange(returned_, true))
            owner_.release();
    }

    handshake_limit& owner_;
    asio::steady_timer timer_;
    bool returned_ = false;
};

handshake_limit::handshake_limit()
    : impl_(std::make_unique<impl>()) {}
handshake_limit::~handshake_limit() = default;

handshake_limit& handshake_limit::of(const asio::any_io_executor& reactor) {
    asio::execution_context& context = asio::query(reactor, asio::execution::context);
    return asio::use_service<limit_service>(context).limit;
}

asio::awaitable<handshake_limit::turn> handshake_limit::acquire() {
    auto reactor = co_await asio::this_coro::executor;
    if (impl_->in_use < at_once) {
        ++impl_->in_use;
    } else {
        runtime::wake_slot slot(reactor);
        impl_->waiting.push_back(&slot);
        co_await slot.wait(); // the turn is handed over, in_use stays as it is
    }
    auto out = std::make_shared<turn_state>(*this, reactor);
    turn_state::limit_time(out);
    co_return out;
}

void handshake_limit::release() {
    if (impl_->waiting.empty()) {
        --impl_->in_use;
    } else {
        impl_->waiting.front()->notify();
        impl_->waiting.pop_front();
    }
}

} // namespace cdc::mongodb::client
