// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/reactor.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <pthread.h>

#include <thread>

namespace cdc::runtime {

namespace asio = boost::asio;

struct reactor::impl {
    asio::io_context context{1};
    asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
    std::thread thread;
};

reactor::reactor(std::string name)
    : impl_(std::make_unique<impl>()) {
    impl_->thread = std::thread([this, name = std::move(name)] {
        pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
        impl_->context.run();
    });
}

reactor::~reactor() {
    impl_->work.reset();
    impl_->context.stop();
    impl_->thread.join();
}

asio::any_io_executor reactor::executor() const noexcept {
    return impl_->context.get_executor();
}

bool reactor::running_in_this_thread() const noexcept {
    return impl_->context.get_executor().running_in_this_thread();
}

} // namespace cdc::runtime
