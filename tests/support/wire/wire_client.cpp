// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wire/wire_client.hpp"

#include "core/bson/builder.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <cstring>

namespace cdc::test::wire {

namespace asio = boost::asio;
using bytes = std::vector<std::uint8_t>;

namespace {

void put(bytes& out, const void* data, std::size_t size) {
    const auto* p = static_cast<const std::uint8_t*>(data);
    out.insert(out.end(), p, p + size);
}
void put(bytes& out, std::uint32_t v) {
    put(out, &v, sizeof v);
}
void set_length(bytes& out, std::size_t at) {
    const auto size = static_cast<std::uint32_t>(out.size() - at);
    std::memcpy(out.data() + at, &size, sizeof size);
}

} // namespace

client::client(std::uint16_t port) {
    socket_.connect({asio::ip::address_v4::loopback(), port});
    socket_.set_option(asio::ip::tcp::no_delay(true));
}

void client::send(bson::view body, std::uint32_t flags,
                  const std::vector<std::pair<std::string, std::vector<bson::view>>>& sequences) {
    bytes out;
    for (const std::uint32_t v : {0U, next_id_++, 0U, 2013U, flags})
        put(out, v);
    out.push_back(0);
    put(out, body.data(), body.size());
    for (const auto& [name, docs] : sequences) {
        out.push_back(1);
        const std::size_t at = out.size();
        put(out, 0U);
        put(out, name.c_str(), name.size() + 1);
        for (const auto& doc : docs)
            put(out, doc.data(), doc.size());
        set_length(out, at);
    }
    if ((flags & 1U) != 0)
        put(out, 0xdeadbeefU); // the checksum, which is not looked at
    set_length(out, 0);
    send_bytes(out);
}

void client::send_legacy(const std::string& ns, bson::view body) {
    bytes out;
    for (const std::uint32_t v : {0U, next_id_++, 0U, 2004U, 0U})
        put(out, v);
    put(out, ns.c_str(), ns.size() + 1);
    put(out, 0U);
    put(out, 0xffffffffU);
    put(out, body.data(), body.size());
    set_length(out, 0);
    send_bytes(out);
}

void client::send_bytes(std::span<const std::uint8_t> b) {
    asio::write(socket_, asio::buffer(b.data(), b.size()));
}

std::optional<bson::document> client::receive() {
    std::uint32_t head[4];
    boost::system::error_code failure;
    asio::read(socket_, asio::buffer(head), failure);
    if (failure)
        return std::nullopt;
    bytes body(head[0] - sizeof head);
    asio::read(socket_, asio::buffer(body), failure);
    if (failure)
        return std::nullopt;
    const std::size_t skip = head[3] == 1 ? 20 : 5;
    if (body.size() < skip)
        return std::nullopt;
    auto doc = bson::document::from_bytes(std::span<const std::uint8_t>(body).subspan(skip));
    if (!doc)
        return std::nullopt;
    return std::move(*doc);
}

std::optional<bson::document> client::command(const std::string& db, bson::view body) {
    bson::builder b;
    b.append_all(body).string("$db", db);
    const bson::document whole = b.finish();
    send(whole);
    return receive();
}

void client::close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
}

} // namespace cdc::test::wire
