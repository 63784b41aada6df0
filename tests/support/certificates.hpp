// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/test_data.hpp"

#include <string>

namespace cdc::test {

/// Throw-away certificates in a folder of their own: an authority, a server certificate of it for
/// 127.0.0.1 and localhost, one for another name, a client certificate, and an unrelated authority.
/// PEM files; those with a key hold certificate and key.
class certificates {
  public:
    certificates();
    std::string ca() const { return file("ca.pem"); }
    std::string other_ca() const { return file("other-ca.pem"); }
    std::string server() const { return file("server.pem"); }
    std::string wrong_name_server() const { return file("wrong-name.pem"); }
    std::string client() const { return file("client.pem"); }

  private:
    std::string file(const char* name) const { return (dir_.path() / name).string(); }
    temp_dir dir_;
};

} // namespace cdc::test
