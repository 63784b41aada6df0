// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/view.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace cdc::bson {

/// An owned document. Movable, copy is explicit (`clone`). Views into it stay valid while it lives,
/// moves included.
class document {
  public:
    /// The empty document.
    document() = default;

    /// Copies the viewed bytes.
    static document copy_of(bson::view v);

    /// Takes over `data`, which libbson allocated (freed with bson_free). The frame must be sound:
    /// this is for buffers that libbson itself has built or checked.
    static document adopt(std::uint8_t* data, std::size_t size) noexcept;

    /// Checks the frame and copies. Errors: bad_data.
    static error::result<document> from_bytes(std::span<const std::uint8_t> bytes);

    document clone() const { return copy_of(view()); }
    bson::view view() const noexcept { return view_; }
    operator bson::view() const noexcept { return view_; } // NOLINT: a document reads as its view
    std::size_t size() const noexcept { return view_.size(); }

    document(document&& other) noexcept
        : data_(std::move(other.data_))
        , view_(std::exchange(other.view_, bson::view{})) {}
    document& operator=(document&& other) noexcept {
        data_ = std::move(other.data_);
        view_ = std::exchange(other.view_, bson::view{});
        return *this;
    }

  private:
    struct free_by_libbson {
        void operator()(std::uint8_t* p) const noexcept;
    };
    std::unique_ptr<std::uint8_t, free_by_libbson> data_;
    bson::view view_;
};

} // namespace cdc::bson
