// Handling of the signals INT, TERM and HUP; on Windows of Ctrl-C, Ctrl-Break and the closing of the console.
#pragma once

#include <string>

namespace teewire::replay {

/// How soon after a signal the program has to be over.
enum class ending {
    soon,    ///< after a quarter of a second, wherever it is
    deferred ///< when what it has is in order, or at a second signal
};

/// From here on, a signal asks the work to end at the next good point. Work that reaches none in time, because it is
/// inside a library or waits for a reader, is ended at once, with exit_interrupted and without its unfinished files.
/// The second signal does so in any case. HUP is still ignored if it is when the program starts.
void catch_interrupts(ending when = ending::soon);
[[nodiscard]] bool interrupted() noexcept;
/// From now on as for ending::deferred, also after a signal that has come already.
void defer_exit() noexcept;

/// While one lives, a signal ends the program at once: it waits for what may never come, and has nothing to report.
class endless_wait {
public:
    endless_wait() noexcept;
    endless_wait(endless_wait const&) = delete;
    endless_wait& operator=(endless_wait const&) = delete;
    ~endless_wait();
};

/// The name of a file that goes when a signal ends the program; or of a folder, if it is empty then.
class unfinished_name {
public:
    explicit unfinished_name(std::string const& path);
    unfinished_name(unfinished_name const&) = delete;
    unfinished_name& operator=(unfinished_name const&) = delete;
    ~unfinished_name();

private:
    struct unfinished* entry_;
};

/// Whether standard error shows a line that has to be taken away before the program ends.
void set_line_shown(bool shown) noexcept;
/// Called by a signal handler before it ends the program, for a terminal that has to be as it was. Null: nothing.
void set_restore_terminal(void (*restore)() noexcept) noexcept;

} // namespace teewire::replay
