// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/replica_set.hpp"

#include "core/bson/builder.hpp"
#include "core/runtime/reactor.hpp"
#include "tests/support/standin/dispatcher.hpp"
#include "tests/support/standin/recording.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <future>
#include <stdexcept>

namespace cdc::test::standin {

namespace asio = boost::asio;

namespace {

class client_session final : public wire::session {
  public:
    client_session(server_state& server, member_state& self, asio::any_io_executor reactor)
        : server_(server)
        , self_(self)
        , connection_(std::move(reactor), self.next_connection++) {}

    asio::awaitable<wire::answer> handle(wire::request r) override {
        const bool silent = r.more_to_come;
        auto work = execute(&server_, &self_, &connection_, std::move(r.db), std::move(r.body));
        wire::answer out;
        out.reply = co_await std::move(work);
        if (connection_.cut) {
            out.reply.reset();
            out.reset = silent; // else it would stay open, as after any request without a reply
        }
        co_return out;
    }
    void closed() noexcept override {
        connection_.closed = true;
        connection_.wake.notify();
    }

  private:
    server_state& server_;
    member_state& self_;
    connection_info connection_;
};

} // namespace

struct replica_set::impl {
    explicit impl(const replica_set_options& options)
        : state(options) {
        state.after = [this](std::chrono::milliseconds delay, std::function<void()> work) {
            run_later(delay, std::move(work));
        };
        for (const auto& m : state.members.all()) {
            member_state* self = m.get();
            const auto port =
                static_cast<std::uint16_t>(options.port == 0 ? 0 : options.port + self->index);
            servers.push_back(std::make_unique<wire::server>(
                reactor,
                [this, self](asio::any_io_executor on) {
                    return std::make_unique<client_session>(state, *self, std::move(on));
                },
                port, options.tls));
        }
        on_reactor([&] {
            for (const auto& m : state.members.all()) {
                m->server = servers[m->index].get();
                m->host = m->server->host_port();
            }
            if (!options.advertised_host.empty())
                state.members.all()[0]->host = options.advertised_host;
        });
    }

    ~impl() {
        on_reactor([this] { ending = true; });
        servers.clear();
    }
    impl(const impl&) = delete;
    impl& operator=(const impl&) = delete;

    /// Runs `work` on the reactor and waits for it.
    template <class F>
    std::invoke_result_t<F> on_reactor(F work) {
        std::packaged_task<std::invoke_result_t<F>()> task(std::move(work));
        auto done = task.get_future();
        asio::post(reactor.executor(), [&task] { task(); });
        return done.get();
    }

    void run_later(std::chrono::milliseconds delay, std::function<void()> work) {
        auto timer = std::make_shared<asio::steady_timer>(reactor.executor(), delay);
        timer->async_wait([this, timer, work = std::move(work)](const auto& failure) {
            if (!failure && !ending)
                work();
        });
    }

    /// On a member, or on the primary.
    bson::document run(std::optional<std::size_t> on, const std::string& db, bson::view command,
                       const std::string& user = {}) {
        struct call {
            std::promise<bson::document> done;
            std::unique_ptr<connection_info> connection;
        };
        auto c = std::make_shared<call>();
        auto reply = c->done.get_future();
        auto copy = std::make_shared<bson::document>(bson::document::copy_of(command));
        asio::post(reactor.executor(), [this, on, c, db, copy, user] {
            member_state* primary = state.members.primary();
            member_state* self = on || primary == nullptr ? &member(on.value_or(0)) : primary;
            c->connection = std::make_unique<connection_info>(reactor.executor(), 0);
            c->connection->trusted = user.empty();
            c->connection->user = user;
            asio::co_spawn(reactor.executor(),
                           execute(&state, self, c->connection.get(), db, std::move(*copy)),
                           [c](const std::exception_ptr& failure, bson::document d) {
                               if (failure)
                                   c->done.set_exception(failure);
                               else
                                   c->done.set_value(std::move(d));
                           });
        });
        return reply.get();
    }

    member_state& member(std::size_t index) { return *state.members.all().at(index); }

    server_state state;
    bool ending = false;                 ///< on the reactor
    runtime::reactor reactor{"standin"}; // below the state, which its thread uses
    std::vector<std::unique_ptr<wire::server>> servers;
};

replica_set::replica_set(replica_set_options options)
    : impl_(std::make_unique<impl>(options)) {}

replica_set::~replica_set() = default;

std::size_t replica_set::members() const noexcept {
    return impl_->servers.size();
}
std::uint16_t replica_set::port(std::size_t member) const {
    return impl_->servers.at(member)->port();
}
std::string replica_set::host_port(std::size_t member) const {
    return impl_->servers.at(member)->host_port();
}

std::string replica_set::uri() const {
    std::string out = "mongodb://";
    for (const auto& server : impl_->servers)
        out += (out.ends_with("//") ? "" : ",") + server->host_port();
    out += "/";
    return impl_->state.standalone() ? out : out + "?replicaSet=" + impl_->state.set_name;
}

bson::document replica_set::run(const std::string& db, bson::view command) {
    return impl_->run(std::nullopt, db, command);
}

bson::document replica_set::run_on(std::size_t member, const std::string& db, bson::view command) {
    return impl_->run(member, db, command);
}

bson::document replica_set::run_as(const std::string& user, const std::string& db,
                                   bson::view command) {
    return impl_->run(std::nullopt, db, command, user_table::full_name("admin", user));
}

bson::document replica_set::run_json_on(std::size_t member, const std::string& db,
                                        const std::string& command) {
    const bson::document doc = from_json(command);
    return run_on(member, db, doc);
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

void replica_set::append_change(const std::string& db, const std::string& collection,
                                bson::view change) {
    impl_->on_reactor([s = &impl_->state, &db, &collection, change] {
        s->data.append_change(db, collection, change);
        s->wake_all();
    });
}

void replica_set::advertise(const std::string& host_port, std::size_t member) {
    impl_->on_reactor([i = impl_.get(), host_port, member] {
        i->member(member).host = host_port;
        for (const auto& m : i->state.members.all())
            ++m->topology_counter;
        i->state.wake_all();
    });
}

std::optional<std::size_t> replica_set::primary() const {
    return impl_->on_reactor([s = &impl_->state]() -> std::optional<std::size_t> {
        const member_state* m = s->members.primary();
        return m == nullptr ? std::nullopt : std::optional(m->index);
    });
}

void replica_set::step_down(std::chrono::seconds period) {
    impl_->on_reactor([s = &impl_->state, period] {
        member_state* m = s->members.primary();
        if (m == nullptr || s->standalone())
            throw std::logic_error("there is no primary that could step down");
        s->members.step_down(*m, membership::clock::now() + period);
        s->settle();
    });
}

void replica_set::elect(std::size_t member) {
    impl_->on_reactor([i = impl_.get(), member] {
        if (!i->member(member).up || i->state.standalone())
            throw std::logic_error("this member cannot be elected");
        i->state.elect(i->member(member));
    });
}

void replica_set::hold_elections(bool held) {
    impl_->on_reactor([s = &impl_->state, held] {
        s->elections_held = held;
        s->settle();
    });
}

void replica_set::stop_member(std::size_t member, ending how) {
    auto down = std::make_shared<std::promise<void>>();
    impl_->on_reactor([i = impl_.get(), member, how, down] {
        i->state.stop(i->member(member), how == ending::shut_down, [down] { down->set_value(); });
    });
    down->get_future().wait();
}

void replica_set::start_member(std::size_t member) {
    impl_->on_reactor([i = impl_.get(), member] { i->state.start(i->member(member)); });
}

void replica_set::fail_commands(const command_fault& fault, std::optional<std::size_t> member) {
    impl_->on_reactor([i = impl_.get(), &fault, member] {
        for (const auto& m : i->state.members.all())
            if (!member || m->index == *member)
                m->faults.set(fault);
        i->state.wake_all();
    });
}

void replica_set::end_faults() {
    impl_->on_reactor([s = &impl_->state] {
        for (const auto& m : s->members.all())
            m->faults.end();
        s->wake_all();
    });
}

std::size_t replica_set::faults_met() const {
    return impl_->on_reactor([s = &impl_->state] {
        std::size_t out = 0;
        for (const auto& m : s->members.all())
            out += static_cast<std::size_t>(m->faults.met());
        return out;
    });
}

void replica_set::keep_last(std::size_t entries) {
    impl_->on_reactor([s = &impl_->state, entries] {
        s->data.history().keep_last(entries);
        s->wake_all();
    });
}

void replica_set::drop_oplog_before(bson::timestamp ts) {
    impl_->on_reactor([s = &impl_->state, ts] {
        s->data.history().drop_before(ts);
        s->wake_all();
    });
}

bson::timestamp replica_set::oldest_time() const {
    return impl_->on_reactor([s = &impl_->state] { return s->data.history().oldest(); });
}

std::size_t replica_set::kill_cursors() {
    return impl_->on_reactor([s = &impl_->state] {
        std::size_t out = 0;
        for (const auto& m : s->members.all())
            out += m->cursors.kill_all();
        s->wake_all();
        return out;
    });
}

bool replica_set::kill_cursor(std::int64_t id) {
    return impl_->on_reactor([s = &impl_->state, id] {
        bool out = false;
        for (const auto& m : s->members.all())
            out |= m->cursors.kill(id);
        s->wake_all();
        return out;
    });
}

void replica_set::drop_connections() {
    for (const auto& server : impl_->servers)
        server->drop_connections();
}

std::size_t replica_set::open_connections() const noexcept {
    std::size_t out = 0;
    for (const auto& server : impl_->servers)
        out += server->open_connections();
    return out;
}

std::size_t replica_set::accepted_connections() const noexcept {
    std::size_t out = 0;
    for (const auto& server : impl_->servers)
        out += server->accepted();
    return out;
}

std::size_t replica_set::open_cursors() const {
    return impl_->on_reactor([s = &impl_->state] {
        std::size_t out = 0;
        for (const auto& m : s->members.all())
            out += m->cursors.size();
        return out;
    });
}

member_counts replica_set::counts(std::size_t member) const {
    return impl_->on_reactor([i = impl_.get(), member] {
        const member_state& m = i->member(member);
        member_counts out;
        for (const auto& [name, n] : m.served)
            out.commands[name] = {n.as_primary, n.as_secondary};
        out.open_cursors = m.cursors.size();
        out.open_connections = m.server->open_connections();
        out.accepted_connections = m.server->accepted();
        return out;
    });
}

} // namespace cdc::test::standin
