#include "program.hpp"

#include "base/output.hpp"
#include "base/text.hpp"

#include <CLI/CLI.hpp>
#include <rapidjson/document.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <utility>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef TEEWIRE_FUZZ_SLOWDOWN
#error "tests/fuzz/meson.build says how much slower this build is"
#endif

namespace fuzz {
namespace {

double now() noexcept {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// The size of a picture before compression.
std::size_t bytes_made(std::string_view output) noexcept {
    constexpr std::size_t head = 24, sides = 16;
    if (!output.starts_with("\x89PNG") || output.size() < head) return output.size();
    std::uint64_t side[2] = {0, 0};
    for (std::size_t i = sides; i < head; ++i)
        side[(i - sides) / 4] = side[(i - sides) / 4] << 8 | static_cast<std::uint8_t>(output[i]);
    return static_cast<std::size_t>(4 * side[0] * side[1]);
}

memory_file const& output_file() {
    static memory_file const& made = *new memory_file;
    return made;
}
memory_file const& input_file() {
    static memory_file const& made = *new memory_file;
    return made;
}

// Nothing that moves the cursor, and nothing but UTF-8.
void require_lines(std::string const& text) {
    FUZZ_REQUIRE(text.empty() || text.back() == '\n');
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const end = text.find('\n', at);
        std::string_view const line = std::string_view{text}.substr(at, end - at);
        FUZZ_REQUIRE(teewire::replay::printable(line) == line);
        at = end + 1;
    }
}
void require_ndjson(std::string const& text) {
    FUZZ_REQUIRE(text.empty() || text.back() == '\n');
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const end = text.find('\n', at);
        rapidjson::Document document;
        document.Parse<rapidjson::kParseValidateEncodingFlag>(text.data() + at, end - at);
        FUZZ_REQUIRE(!document.HasParseError() && document.IsObject());
        at = end + 1;
    }
}

} // namespace

cost_limit::cost_limit(std::size_t input_bytes) noexcept : begun_{now()}, bytes_{input_bytes} {}
void cost_limit::check(std::size_t output_bytes) const noexcept {
    constexpr double for_itself = 0.1;
    double const allowed = for_itself + static_cast<double>(bytes_ + output_bytes) / 1e6;
    double const taken = now() - begun_;
    if (taken <= TEEWIRE_FUZZ_SLOWDOWN * allowed) return;
    std::fprintf(stderr, "%zu bytes and %zu of output took %.3f s, %d times as slow as otherwise\n", bytes_,
                 output_bytes, taken, TEEWIRE_FUZZ_SLOWDOWN);
    FUZZ_REQUIRE(!"takes longer than it may");
}

memory_file::memory_file() : descriptor_{::memfd_create("teewire-fuzz", 0)} { FUZZ_REQUIRE(descriptor_ >= 0); }
void memory_file::assign(bytes_view bytes) const {
    FUZZ_REQUIRE(::ftruncate(descriptor_, 0) == 0 && ::lseek(descriptor_, 0, SEEK_SET) == 0);
    while (!bytes.empty()) {
        auto const n = ::write(descriptor_, bytes.data(), bytes.size());
        FUZZ_REQUIRE(n > 0);
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
}
std::string memory_file::content() const {
    struct stat status {};
    FUZZ_REQUIRE(::fstat(descriptor_, &status) == 0);
    std::string all(static_cast<std::size_t>(status.st_size), '\0');
    for (std::size_t at = 0; at < all.size();) {
        auto const n = ::pread(descriptor_, all.data() + at, all.size() - at, static_cast<off_t>(at));
        FUZZ_REQUIRE(n > 0);
        at += static_cast<std::size_t>(n);
    }
    return all;
}

captured_output::captured_output() : output_{output_file()}, stdout_{::dup(STDOUT_FILENO)}, stderr_{stderr} {
    output_.assign({});
    ::dup2(output_.descriptor(), STDOUT_FILENO);
    stderr = ::open_memstream(&said_, &said_size_);
}
captured_output::~captured_output() {
    restore();
    std::free(said_);
}
void captured_output::restore() noexcept {
    if (stdout_ < 0) return;
    ::dup2(stdout_, STDOUT_FILENO);
    ::close(std::exchange(stdout_, -1));
    std::fclose(std::exchange(stderr, stderr_));
}

command::command(teewire::replay::verb const& verb, form out, std::vector<std::string> words)
    : parsed_{std::make_shared<CLI::App>()}, form_{out} {
    teewire::replay::option_set options{*parsed_};
    run_ = verb.declare(options);
    for (std::string& word : words)
        if (word == "@") word = input_file().path();
    std::reverse(words.begin(), words.end());
    parsed_->parse(std::move(words));
}

ending command::run(bytes_view input) const {
    input_file().assign(input);
    ending end{};
    {
        captured_output captured;
        cost_limit const limit{input.size()};
        try {
            end.code = run_();
        } catch (...) {
            auto const failed = teewire::replay::current_exit_reason();
            teewire::replay::complain(failed.text);
            end.code = failed.code;
        }
        captured.restore();
        end.out = captured.out();
        end.said = captured.said();
        limit.check(bytes_made(end.out) + end.said.size());
    }
    // Nothing that is read is missing, and there is room for what is written.
    if (end.code != teewire::replay::exit_ok && end.code != teewire::replay::exit_bad_input &&
        end.code != teewire::replay::exit_usage)
        fail(__FILE__, __LINE__, end.said.c_str());
    FUZZ_REQUIRE((end.code == teewire::replay::exit_usage) <= !end.said.empty());
    require_lines(end.said);
    if (form_ == form::text) require_lines(end.out);
    if (form_ == form::ndjson) require_ndjson(end.out);
    return end;
}

} // namespace fuzz
