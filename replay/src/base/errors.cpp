#include "base/errors.hpp"

#include <new>

namespace teewire::replay {

exit_reason current_exit_reason() {
    try {
        throw;
    } catch (bad_input const& e) {
        return {exit_bad_input, e.what()};
    } catch (usage_error const& e) {
        return {exit_usage, e.what()};
    } catch (std::bad_alloc const&) {
        return {exit_io, "no memory left"};
    } catch (std::exception const& e) { // io_error
        return {exit_io, e.what()};
    }
}

} // namespace teewire::replay
