// A broadcast as files in a folder, for web servers and object stores.
#pragma once

#include "http/broadcast.hpp"

#include <functional>
#include <string>

namespace teewire::replay {

/// Every file appears complete under its name. A file that cannot be written is reported once, and tried again with the
/// next file.
class broadcast_folder final : public broadcast_listener {
public:
    /// Makes the folder if it is not there. Throws output_error.
    broadcast_folder(std::string path, std::function<void(std::string const&)> say);

    void add(std::string const& path, shared_bytes const& bytes) override;
    void remove(std::string const& path) override;
    void remove_folder(std::string const& path) override;
    void change(shared_bytes const& sync) override;

    /// Removes the remains of an earlier relay: recordings and maps that `now` does not have and that were last written
    /// before the window.
    void sweep(broadcast const& now, milliseconds window);

    [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }

private:
    void write(std::string const& path, shared_bytes const& bytes);
    void fail(std::string const& why);

    std::string path_;
    std::function<void(std::string const&)> say_;
    bool failing_ = false;
    std::uint64_t failures_ = 0;
};

} // namespace teewire::replay
