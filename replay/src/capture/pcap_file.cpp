#include "capture/pcap_file.hpp"

#include "input.hpp"
#include "session.hpp"

#include <pcap/pcap.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include <unistd.h>

namespace teewire::replay {
namespace {

std::optional<link_layer> find_link(int type) {
    switch (type) {
    case DLT_EN10MB: return link_layer::ethernet;
    case DLT_LINUX_SLL: return link_layer::cooked_1;
    case DLT_LINUX_SLL2: return link_layer::cooked_2;
    case DLT_NULL:
    case DLT_LOOP: return link_layer::loopback;
    case DLT_RAW:
    case DLT_IPV4:
    case DLT_IPV6: return link_layer::raw_ip;
    default: return {};
    }
}

open_file copy_standard_input() {
    open_file copy{std::tmpfile()};
    if (copy == nullptr) throw io_error{fmt::format("no temporary file: {}", std::strerror(errno))};
    std::array<char, 65536> block;
    while (std::size_t const n = std::fread(block.data(), 1, block.size(), stdin))
        if (std::fwrite(block.data(), 1, n, copy.get()) != n)
            throw io_error{fmt::format("a temporary file cannot be written: {}", std::strerror(errno))};
    if (std::fflush(copy.get()) != 0) throw io_error{"a temporary file cannot be written"};
    return copy;
}

open_file duplicate(std::FILE* file) {
    int const copy = dup(fileno(file));
    open_file opened{copy < 0 ? nullptr : fdopen(copy, "rb")};
    if (opened == nullptr) throw io_error{fmt::format("standard input: {}", std::strerror(errno))};
    return opened;
}

} // namespace

capture_source::capture_source(std::string name, bool twice) : path_{std::move(name)}, name_{path_} {
    namespace fs = std::filesystem;
    if (path_ == "-") {
        name_ = "standard input";
        if (twice) spool_ = copy_standard_input();
        return;
    }
    std::error_code failed;
    fs::file_status const status = fs::status(path_, failed);
    if (!fs::exists(status)) throw io_error{fmt::format("{}: no such file", name_)};
    if (fs::is_directory(status)) throw io_error{fmt::format("{}: is a directory", name_)};
    if (fs::is_regular_file(status)) size_ = fs::file_size(path_, failed);
    else if (twice) throw io_error{fmt::format("{}: has to be read twice, which takes a file or -", name_)};
}

open_file capture_source::open() const {
    if (spool_ != nullptr) {
        std::rewind(spool_.get());
        return duplicate(spool_.get());
    }
    if (path_ == "-") return duplicate(stdin);
    open_file file{std::fopen(path_.c_str(), "rb")};
    if (file == nullptr) throw io_error{fmt::format("{}: {}", name_, std::strerror(errno))};
    return file;
}

capture_reader::capture_reader(open_file file, std::string const& name) {
    std::array<char, PCAP_ERRBUF_SIZE> reason{};
    handle_ = pcap_fopen_offline_with_tstamp_precision(file.get(), PCAP_TSTAMP_PRECISION_NANO, reason.data());
    if (handle_ == nullptr) throw bad_input{fmt::format("{}: not a packet capture: {}", name, reason.data())};
    static_cast<void>(file.release()); // is closed with the handle
    int const type = pcap_datalink(handle_);
    auto const known = find_link(type);
    if (!known) {
        char const* const type_name = pcap_datalink_val_to_description(type);
        std::string const text = type_name != nullptr ? type_name : fmt::format("type {}", type);
        pcap_close(handle_);
        throw bad_input{
            fmt::format("{}: a capture of {}, which cannot be read: only Ethernet, Linux cooked, raw IP and "
                        "loopback can",
                        name, text)};
    }
    link_ = *known;
}

capture_reader::~capture_reader() { pcap_close(handle_); }

std::string_view capture_reader::link_name() const noexcept {
    switch (link_) {
    case link_layer::ethernet: return "Ethernet";
    case link_layer::cooked_1: return "Linux cooked v1";
    case link_layer::cooked_2: return "Linux cooked v2";
    case link_layer::loopback: return "loopback";
    case link_layer::raw_ip: return "raw IP";
    }
    return "";
}

std::uint64_t capture_reader::position() const {
    off_t const at = ftello(::pcap_file(handle_));
    return at < 0 ? 0 : static_cast<std::uint64_t>(at);
}

bool capture_reader::next(captured_frame& out) {
    if (!error_.empty()) return false;
    pcap_pkthdr* head = nullptr;
    std::uint8_t const* bytes = nullptr;
    std::uint64_t const begin = position();
    int const found = pcap_next_ex(handle_, &head, &bytes);
    if (found != 1) {
        if (found == PCAP_ERROR_BREAK) return false;
        std::string const place = begin != 0 ? fmt::format(" at byte {}", begin) : std::string{};
        error_ = fmt::format("frame {}{}: {}", frames_ + 1, place, pcap_geterr(handle_));
        return false;
    }
    ++frames_;
    out.number = frames_;
    out.time = std::int64_t{head->ts.tv_sec} * 1'000'000'000 + head->ts.tv_usec; // which counts nanoseconds here
    out.original_size = head->len;
    out.bytes = {bytes, head->caplen};
    return true;
}

} // namespace teewire::replay
