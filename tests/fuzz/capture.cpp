// Capture files, down to what is printed of them.
#include "capture_mutator.hpp"

#include "recording/capture/capture_reader.hpp"
#include "recording/capture/explain.hpp"
#include "recording/capture/fragments.hpp"
#include "recording/capture/report.hpp"
#include "recording/demo/demo_document.hpp"

using namespace teewire;
using namespace teewire::replay;

namespace {

// Reads all output.
class checker : public capture_listener {
public:
    void snapshot(connection_stats const&, snapshot_event const& event) override {
        snapshot_view const view = event.snapshot;
        std::uint32_t sum = 0;
        for (item const i : view)
            for (std::int32_t const value : i.data) sum += static_cast<std::uint32_t>(value);
        FUZZ_REQUIRE(sum == view.checksum());
    }
};

void run_target(fuzz::bytes_view data) {
    if (data.empty()) return;
    open_file file = open_bytes(data);
    try {
        capture_reader reader{{std::move(file), nullptr}, "input"};
        checker listener;
        connection_watcher watcher{listener};
        captured_frame frame;
        fragment_buffer fragments;
        while (reader.next(frame)) {
            if (!frame.link) continue;
            udp_datagram datagram;
            ip_fragment part;
            frame_kind kind = read_frame(*frame.link, frame.bytes, datagram, part);
            if (kind == frame_kind::fragment) {
                auto const whole = fragments.add(frame.time, part);
                if (whole) kind = read_udp(*whole, datagram);
            }
            if (kind == frame_kind::udp) watcher.receive(frame.number, frame.time, datagram);
        }
        watcher.finish();
        text_buffer out;
        for (connection_stats const* const w : watcher.connections()) print_text(out, *w, 1, 0, true);
    } catch (bad_input const&) {
    } catch (usage_error const&) { // of a network that is not read
    }
}

} // namespace

FUZZ_TARGET("capture", run_target)
FUZZ_MUTATOR(0, fuzz::mutate_capture)
