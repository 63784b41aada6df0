// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/client/stream.hpp"

#include "sources/mongodb/client/connection.hpp"
#include "sources/mongodb/client/handles.hpp"

#include <boost/asio/post.hpp>
#include <poll.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

namespace cdc::mongodb::client {

namespace asio = boost::asio;
using clock = std::chrono::steady_clock;

namespace {

/// Outside of libmongoc's own stream types (1 to 7); poll insists on one type for all streams.
constexpr int stream_type = 0x63646331;
/// Bytes read without a pause before other work of the reactor gets its turn.
constexpr std::size_t bytes_per_turn = 256 * 1024;
/// More of a scan's reply is not looked at for the mark of a primary.
constexpr std::size_t scan_reply_limit = 64 * 1024;

clock::time_point deadline_in(std::int32_t timeout_ms) {
    // writev's caller maps a negative timeout to its default, readv's passes it through: none.
    if (timeout_ms < 0)
        return clock::time_point::max();
    return clock::now() + std::chrono::milliseconds(timeout_ms);
}

/// True when the bytes of a hello reply say that this member is the primary.
bool answers_as_primary(std::string_view reply) {
    using namespace std::string_view_literals;
    return reply.find("\x08ismaster\0\x01"sv) != std::string_view::npos ||
           reply.find("\x08isWritablePrimary\0\x01"sv) != std::string_view::npos;
}

/// Walks an array of iovecs without changing the caller's.
class iovec_cursor {
  public:
    iovec_cursor(const mongoc_iovec_t* iov, std::size_t count)
        : parts_(iov, iov + count) {
        skip_empty();
    }
    bool done() const noexcept { return at_ == parts_.size(); }
    std::span<std::uint8_t> front() const noexcept {
        return {static_cast<std::uint8_t*>(parts_[at_].iov_base), parts_[at_].iov_len};
    }
    std::span<const iovec> rest() const noexcept {
        return {parts_.data() + at_, parts_.size() - at_};
    }
    void advance(std::size_t n) noexcept {
        while (n > 0 && at_ < parts_.size()) {
            const std::size_t step = std::min(n, parts_[at_].iov_len);
            parts_[at_].iov_base = static_cast<char*>(parts_[at_].iov_base) + step;
            parts_[at_].iov_len -= step;
            n -= step;
            skip_empty();
        }
    }

  private:
    void skip_empty() noexcept {
        while (at_ < parts_.size() && parts_[at_].iov_len == 0)
            ++at_;
    }
    std::vector<iovec> parts_;
    std::size_t at_ = 0;
};

} // namespace

/// What libmongoc holds. The C part comes first, so that a pointer to it is a pointer to us.
struct stream {
    mongoc_stream_t base{};
    stream_hub* hub = nullptr;
    std::shared_ptr<connection> link;
    bool timed_out = false;
    bool retry = false;
    std::string scan_reply; // what a scan has read so far, to see who is primary

    static stream* of(mongoc_stream_t* s) noexcept { return reinterpret_cast<stream*>(s); }
};

// libmongoc calls the struct private; these hold for 1.23.1 to 2.x.
static_assert(sizeof(mongoc_stream_t) == sizeof(void*) * 16);
static_assert(offsetof(mongoc_stream_t, padding) == sizeof(void*) * 13);
static_assert(offsetof(stream, base) == 0);

struct stream_callbacks {
    static int fail(int number) noexcept {
        errno = number;
        return -1;
    }

    static void destroy(mongoc_stream_t* s) noexcept {
        auto* self = stream::of(s);
        if (self->link->failed())
            self->hub->note_failure(self->link->failure());
        self->link->close();
        delete self;
    }

    static int close(mongoc_stream_t* s) noexcept {
        stream::of(s)->link->close();
        return 0;
    }

    static int flush(mongoc_stream_t*) noexcept { return 0; }
    static int setsockopt(mongoc_stream_t*, int, int, void*, mongoc_socklen_t) noexcept {
        return 0;
    }
    static bool check_closed(mongoc_stream_t* s) noexcept {
        auto* self = stream::of(s);
        return self->hub->poisoned_ || self->link->peer_closed();
    }
    static bool timed_out(mongoc_stream_t* s) noexcept { return stream::of(s)->timed_out; }
    static bool should_retry(mongoc_stream_t* s) noexcept { return stream::of(s)->retry; }

    /// Common start of readv and writev. False: give up with `error`.
    static bool begin(stream* self, std::int32_t timeout_ms, int& error) noexcept {
        self->timed_out = false;
        self->retry = false;
        // An ordinary command ends the scan whose mark must not cut off the next one.
        if (timeout_ms != 0)
            self->hub->primary_answered_ = {};
        if (self->hub->poisoned_)
            error = ECANCELED;
        else if (!self->hub->runner_.on_fiber())
            // Suspending here would switch the caller's own stack away (mongoc_client_destroy off
            // the fiber does that, depending on timing).
            error = EPROTO;
        else
            return true;
        return false;
    }

    static bool expired(stream* self, clock::time_point deadline) noexcept {
        if (deadline == clock::time_point::max() || clock::now() < deadline)
            return false;
        self->timed_out = true;
        self->hub->timed_out_ = true;
        return true;
    }

    static ssize_t writev(mongoc_stream_t* s, mongoc_iovec_t* iov, std::size_t count,
                          std::int32_t timeout_ms) noexcept {
        auto* self = stream::of(s);
        int error = 0;
        if (!begin(self, timeout_ms, error))
            return fail(error);
        const auto deadline = deadline_in(timeout_ms);
        if (timeout_ms == 0)
            self->scan_reply.clear();
        iovec_cursor out(iov, count);
        std::size_t written = 0;
        for (;;) {
            if (self->hub->poisoned_)
                return fail(ECANCELED);
            if (out.done() && (timeout_ms == 0 || self->link->flushed()))
                break;
            const auto did = out.done() ? connection::outcome{connection::outcome::kind::later}
                                        : self->link->write(out.rest());
            switch (did.what) {
            case connection::outcome::kind::done:
                written += did.bytes;
                out.advance(did.bytes);
                continue;
            case connection::outcome::kind::end:
            case connection::outcome::kind::failed:
                self->hub->note_failure(self->link->failure());
                return fail(self->link->error_number() ? self->link->error_number() : EPIPE);
            case connection::outcome::kind::later:
                break;
            }
            if (self->link->failed()) {
                self->hub->note_failure(self->link->failure());
                return fail(self->link->error_number());
            }
            if (timeout_ms == 0) {
                if (written > 0)
                    break;
                self->retry = true;
                return fail(EAGAIN);
            }
            if (expired(self, deadline))
                return fail(ETIMEDOUT);
            self->hub->runner_.wait(deadline);
        }
        errno = 0;
        return static_cast<ssize_t>(written);
    }

    static ssize_t readv(mongoc_stream_t* s, mongoc_iovec_t* iov, std::size_t count,
                         std::size_t min_bytes, std::int32_t timeout_ms) noexcept {
        auto* self = stream::of(s);
        int error = 0;
        if (!begin(self, timeout_ms, error))
            return fail(error);
        const auto deadline = deadline_in(timeout_ms);
        iovec_cursor in(iov, count);
        std::size_t got = 0;
        std::size_t this_turn = 0;
        while (!in.done()) {
            if (self->hub->poisoned_)
                return fail(ECANCELED);
            const auto into = in.front();
            const auto did = self->link->read(into);
            if (did.what == connection::outcome::kind::done) {
                if (timeout_ms == 0)
                    look_for_primary(self, into.first(did.bytes));
                got += did.bytes;
                in.advance(did.bytes);
                this_turn += did.bytes;
                if (this_turn >= bytes_per_turn && timeout_ms != 0 && !in.done()) {
                    // A sender that keeps up would hold the reactor for the whole reply.
                    this_turn = 0;
                    self->hub->runner_.yield();
                }
                continue;
            }
            if (did.what == connection::outcome::kind::end) {
                self->hub->note_failure("connection closed by the server");
                errno = 0;
                return got >= min_bytes && got > 0 ? static_cast<ssize_t>(got) : 0;
            }
            if (did.what == connection::outcome::kind::failed) {
                self->hub->note_failure(self->link->failure());
                return fail(self->link->error_number() ? self->link->error_number() : ECONNRESET);
            }
            if (got >= min_bytes && got > 0)
                break;
            if (timeout_ms == 0) {
                self->retry = true;
                errno = EAGAIN;
                return static_cast<ssize_t>(got);
            }
            if (expired(self, deadline)) {
                self->hub->note_failure("no answer within the socket timeout");
                return fail(ETIMEDOUT);
            }
            self->hub->runner_.wait(deadline);
        }
        errno = 0;
        return static_cast<ssize_t>(got);
    }

    static void look_for_primary(stream* self, std::span<const std::uint8_t> bytes) noexcept {
        if (self->hub->primary_answered_ != clock::time_point{} ||
            self->scan_reply.size() + bytes.size() > scan_reply_limit)
            return;
        self->scan_reply.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (answers_as_primary(self->scan_reply)) {
            self->hub->primary_answered_ = clock::now();
            self->scan_reply.clear();
        }
    }

    static int events_of(stream* self, int wanted) noexcept {
        if (self->hub->poisoned_ || self->link->failed()) {
            if (self->link->failed())
                self->hub->note_failure(self->link->failure());
            return POLLERR | POLLHUP;
        }
        if (!self->link->opened())
            return 0;
        int ready = wanted & POLLOUT;
        if ((wanted & POLLIN) && self->link->readable())
            ready |= POLLIN;
        return ready;
    }

    static ssize_t poll(mongoc_stream_poll_t* streams, std::size_t count,
                        std::int32_t timeout_ms) noexcept {
        if (count == 0)
            return 0;
        auto& hub = *stream::of(streams[0].stream)->hub;
        if (!hub.runner_.on_fiber())
            return fail(EPROTO);
        const auto deadline = deadline_in(timeout_ms);
        for (;;) {
            const bool cut = hub.primary_answered_ != clock::time_point{} &&
                             clock::now() >= hub.primary_answered_ + hub.options_.scan_grace;
            ssize_t ready = 0;
            for (std::size_t i = 0; i < count; ++i) {
                auto* self = stream::of(streams[i].stream);
                int events = events_of(self, streams[i].events);
                if (events == 0 && cut) {
                    // The primary has answered; whoever is still silent must not hold it up.
                    hub.logger_.debug("scan goes on without a silent member");
                    events = POLLERR | POLLHUP;
                }
                streams[i].revents = events;
                ready += events != 0;
            }
            if (ready > 0 || clock::now() >= deadline)
                return ready;
            auto until = deadline;
            if (hub.primary_answered_ != clock::time_point{})
                until = std::min(until, hub.primary_answered_ + hub.options_.scan_grace);
            hub.runner_.wait(until);
        }
    }

    static mongoc_stream_t* initiate(const mongoc_uri_t*, const mongoc_host_list_t* host,
                                     void* user, bson_error_t*) noexcept {
        auto& hub = *static_cast<stream_hub*>(user);
        auto* self = new stream;
        self->hub = &hub;
        connection::target to;
        to.host = host->host;
        to.port = host->port;
        to.tls = hub.options_.tls;
        to.verify_host_name = hub.options_.verify_host_name;
        self->link = connection::make(hub.reactor_, std::move(to),
                                      [runner = &hub.runner_] { runner->notify(); });
        auto& b = self->base;
        b.type = stream_type;
        b.destroy = destroy;
        b.failed = destroy;
        b.close = close;
        b.flush = flush;
        b.writev = writev;
        b.readv = readv;
        b.setsockopt = setsockopt;
        b.get_base_stream = nullptr; // a root stream; a function here would be asked for ever
        b.check_closed = check_closed;
        b.poll = poll;
        b.timed_out = timed_out;
        b.should_retry = should_retry;
        if (hub.poisoned_) {
            self->link->close();
            return &self->base;
        }
        // Posted: co_spawn on the reactor's thread would start the coroutine on the fiber's stack.
        asio::post(hub.reactor_,
                   [&hub, alive = std::weak_ptr<bool>(hub.alive_), link = self->link] {
                       if (alive.expired())
                           return;
                       hub.opening_.spawn("connection", link->run_open());
                   });
        return &self->base;
    }
};

stream_hub::stream_hub(asio::any_io_executor reactor, fiber_runner& runner, options o,
                       log::logger logger)
    : reactor_(reactor)
    , runner_(runner)
    , options_(std::move(o))
    , logger_(logger)
    , opening_(std::move(reactor), std::move(logger)) {}

stream_hub::~stream_hub() = default;

void stream_hub::attach(mongoc_client_t* client) {
    mongoc_client_set_stream_initiator(client, stream_callbacks::initiate, this);
}

void stream_hub::poison() {
    poisoned_ = true;
    runner_.post_notify();
}

void stream_hub::begin_operation() {
    if (!last_failure_.empty())
        earlier_failure_ = std::exchange(last_failure_, {});
    timed_out_ = false;
    begin_scan();
}

void stream_hub::begin_scan() noexcept {
    // The member that answered as primary may have gone before its answer was whole, and then no
    // command has ended that scan: the mark would cut off every member of this one.
    primary_answered_ = {};
}

void stream_hub::note_failure(const std::string& text) {
    if (last_failure_.empty() && !poisoned_)
        last_failure_ = text;
}

asio::awaitable<void> stream_hub::join() {
    co_await opening_.join();
}

} // namespace cdc::mongodb::client
