#include "base/interrupts.hpp"

#include "base/errors.hpp"
#include "base/os/process.hpp"
#include "base/os/signals.hpp"

#include <atomic>

namespace teewire::replay {

// One in a list that only grows, as a signal handler may be reading it.
struct unfinished {
    std::string path;
    std::atomic<bool> there = true;
    unfinished* next = nullptr;
};

namespace {

// All threads and the signal handler look at these.
std::atomic<bool> interrupt_seen = false;
std::atomic<int> endless_waits = 0;
std::atomic<bool> line_shown = false;
std::atomic<void (*)() noexcept> restore_terminal = nullptr;
std::atomic<unfinished*> all_unfinished = nullptr;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
              std::atomic<unfinished*>::is_always_lock_free);

// These two are run as signal handlers.

[[noreturn]] void end_now() {
    os::end_children(); // which would write their files after these are gone
    // The newest first: a folder is empty by then.
    for (unfinished const* u = all_unfinished; u != nullptr; u = u->next)
        if (u->there) os::remove_unfinished(u->path.c_str());
    if (auto const restore = restore_terminal.load()) restore();
    if (line_shown) os::write_to_standard_error("\r\x1b[K");
    os::exit_now(exit_interrupted);
}

void seen() {
    if (interrupt_seen.exchange(true) || endless_waits > 0) end_now();
    os::wake();
    os::start_grace();
}

} // namespace

void catch_interrupts(ending when) {
    os::catch_signals(
        seen, [] { end_now(); }, when == ending::soon);
}

bool interrupted() noexcept { return interrupt_seen.load(std::memory_order_relaxed); }

void defer_exit() noexcept { os::cancel_grace(); }

endless_wait::endless_wait() noexcept {
    ++endless_waits;
    if (interrupt_seen) end_now(); // before this waits
}
endless_wait::~endless_wait() { --endless_waits; }

unfinished_name::unfinished_name(std::string const& path) : entry_{new unfinished{path}} {
    entry_->next = all_unfinished;
    while (!all_unfinished.compare_exchange_weak(entry_->next, entry_)) {
    }
}
unfinished_name::~unfinished_name() { entry_->there = false; }

void set_line_shown(bool shown) noexcept { line_shown = shown; }
void set_restore_terminal(void (*restore)() noexcept) noexcept { restore_terminal = restore; }

} // namespace teewire::replay
