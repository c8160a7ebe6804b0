// Memory that threads use in turn.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace teewire::replay {

/// A T of its own for as long as this exists, kept afterwards for whoever needs one next. Not thread_local: where MinGW emulates
/// that, the memory of an object is gone before its destructor runs.
template <class T>
class lent {
public:
    lent() {
        pool& from = shared();
        std::lock_guard const lock{from.mutex};
        if (from.kept.empty()) return;
        object_ = std::move(from.kept.back());
        from.kept.pop_back();
    }
    lent(lent const&) = delete;
    lent& operator=(lent const&) = delete;
    ~lent() {
        if (!object_) return;
        pool& to = shared();
        std::lock_guard const lock{to.mutex};
        to.kept.push_back(std::move(object_));
    }

    /// As whoever had it before left it.
    [[nodiscard]] T& operator*() {
        if (!object_) object_ = std::make_unique<T>();
        return *object_;
    }

private:
    struct pool {
        std::mutex mutex;
        std::vector<std::unique_ptr<T>> kept;
    };
    static pool& shared() {
        static pool all;
        return all;
    }

    std::unique_ptr<T> object_;
};

} // namespace teewire::replay
