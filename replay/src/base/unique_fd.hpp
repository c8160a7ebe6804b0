// The owner of a file descriptor.
#pragma once

#include <utility>

#include <unistd.h>

namespace teewire::replay {

/// Closes a descriptor when it goes. Negative ones are none.
class unique_fd {
public:
    unique_fd() = default;
    explicit unique_fd(int descriptor) noexcept : descriptor_{descriptor} {}
    unique_fd(unique_fd&& other) noexcept : descriptor_{std::exchange(other.descriptor_, -1)} {}
    unique_fd& operator=(unique_fd&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~unique_fd() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }

    [[nodiscard]] int get() const noexcept { return descriptor_; }
    [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }
    explicit operator bool() const noexcept { return descriptor_ >= 0; }

private:
    int descriptor_ = -1;
};

} // namespace teewire::replay
