#include "base/errors.hpp"

#include <new>

namespace teewire::replay {

exit_reason current_exit_reason() {
    try {
        throw;
    } catch (bad_input const& e) {
        return {exit_bad_input, e.what(), e.reason()};
    } catch (usage_error const& e) {
        return {exit_usage, e.what(), e.reason()};
    } catch (std::bad_alloc const&) {
        return {exit_io, "not enough memory", "not enough memory"};
    } catch (io_error const& e) {
        return {exit_io, e.what(), e.reason()};
    } catch (std::exception const& e) {
        return {exit_io, e.what(), e.what()};
    }
}

} // namespace teewire::replay
