// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/replica_set.hpp"

#include "core/bson/builder.hpp"
#include "tests/support/standin/dispatcher.hpp"
#include "tests/support/standin/recording.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <future>
#include <stdexcept>

namespace cdc::test::standin {

namespace asio = boost::asio;

namespace {

class client_session final : public wire::session {
  public:
    client_session(server_state& server, asio::any_io_executor reactor)
        : server_(server)
        , connection_(std::move(reactor), server.next_connection++) {}

    asio::awaitable<wire::answer> handle(wire::request r) override {
        auto work = execute(&server_, &connection_, std::move(r.db), std::move(r.body));
        wire::answer out;
        out.reply = co_await std::move(work);
        co_return out;
    }
    void closed() noexcept override {
        connection_.closed = true;
        connection_.wake.notify();
    }

  private:
    server_state& server_;
    connection_info connection_;
};

} // namespace

struct replica_set::impl {
    explicit impl(const replica_set_options& options)
        : state(options)
        , server(
              [this](asio::any_io_executor reactor) {
                  return std::make_unique<client_session>(state, std::move(reactor));
              },
              options.port, options.tls) {}

    /// Runs `work` on the reactor and waits for it.
    template <class F>
    auto on_reactor(F work) {
        std::packaged_task<std::invoke_result_t<F>()> task(std::move(work));
        auto done = task.get_future();
        asio::post(server.executor(), [&task] { task(); });
        return done.get();
    }

    server_state state;
    wire::server server; // last: its thread uses the state
};

replica_set::replica_set(replica_set_options options)
    : impl_(std::make_unique<impl>(options)) {
    impl_->on_reactor([this, &options] {
        impl_->state.host = options.advertised_host.empty() ? host_port() : options.advertised_host;
    });
}

replica_set::~replica_set() = default;

std::uint16_t replica_set::port() const noexcept {
    return impl_->server.port();
}
std::string replica_set::host_port() const {
    return impl_->server.host_port();
}

std::string replica_set::uri() const {
    const std::string base = "mongodb://" + host_port() + "/";
    return impl_->state.standalone() ? base : base + "?replicaSet=" + impl_->state.set_name;
}

bson::document replica_set::run(const std::string& db, bson::view command) {
    struct call {
        std::promise<bson::document> done;
        std::unique_ptr<connection_info> connection;
    };
    auto c = std::make_shared<call>();
    auto reply = c->done.get_future();
    asio::post(
        impl_->server.executor(),
        [this, c, db, copy = std::make_shared<bson::document>(bson::document::copy_of(command))] {
            c->connection = std::make_unique<connection_info>(impl_->server.executor(), 0);
            c->connection->trusted = true;
            asio::co_spawn(impl_->server.executor(),
                           execute(&impl_->state, c->connection.get(), db, std::move(*copy)),
                           [c](const std::exception_ptr& failure, bson::document d) {
                               if (failure)
                                   c->done.set_exception(failure);
                               else
                                   c->done.set_value(std::move(d));
                           });
        });
    return reply.get();
}

bson::document replica_set::run_json(const std::string& db, const std::string& command) {
    const bson::document doc = from_json(command);
    return run(db, doc);
}

void replica_set::insert(const std::string& db, const std::string& coll, bson::view doc) {
    bson::builder docs;
    docs.document("0", doc);
    bson::builder b;
    b.string("insert", coll).array("documents", docs.finish());
    const bson::document reply = run(db, b.finish());
    if (!bson::find(reply, "ok")->truthy() || bson::find(reply, "writeErrors"))
        throw std::runtime_error("the stand-in refused an insert");
}

bson::timestamp replica_set::last_time() const {
    return impl_->on_reactor([s = &impl_->state] { return s->data.history().last(); });
}

void replica_set::advance_clock(std::uint32_t seconds) {
    impl_->on_reactor([s = &impl_->state, seconds] { s->data.history().advance_clock(seconds); });
}

void replica_set::append_noop() {
    impl_->on_reactor([s = &impl_->state] {
        oplog_entry e;
        bson::builder b;
        e.object = b.string("msg", "periodic noop").finish();
        s->data.history().append(std::move(e));
        s->wake_all();
    });
}

void replica_set::advertise(const std::string& host_port) {
    impl_->on_reactor([s = &impl_->state, host_port] {
        s->host = host_port;
        ++s->topology_counter;
        s->wake_all();
    });
}

void replica_set::drop_connections() {
    impl_->server.drop_connections();
}
std::size_t replica_set::open_connections() const noexcept {
    return impl_->server.open_connections();
}
std::size_t replica_set::accepted_connections() const noexcept {
    return impl_->server.accepted();
}
std::size_t replica_set::open_cursors() const {
    return impl_->on_reactor([s = &impl_->state] { return s->cursors.size(); });
}

} // namespace cdc::test::standin
