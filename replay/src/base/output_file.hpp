// The one way to write an output: a file that appears under its name when it is complete, or a stream.
#pragma once

#include "base/interrupts.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teewire::replay {

/// What -o and --force say. "-" is standard output.
struct output_choice {
    std::string name = "-";
    bool force = false; ///< whether a file of that name may be replaced
};

enum class content : std::uint8_t { text, binary };

/// A destination for bytes, one after another.
class byte_sink {
public:
    /// At the end. Throws output_error.
    virtual void write(std::span<std::uint8_t const> bytes) = 0;
    /// Overwrites the first bytes. False where that is impossible.
    virtual bool overwrite_begin(std::span<std::uint8_t const> bytes) = 0;
    /// Whether what is written is gone at once, and others wait for it.
    [[nodiscard]] virtual bool is_stream() const noexcept = 0;

protected:
    ~byte_sink() = default;
};

/// A file is written under a temporary name in the same folder, and gets its own name in finish(). Standard output
/// ("-"), devices and pipes are written directly.
class output_file final : public byte_sink {
public:
    /// Throws usage_error if the file exists and must not be replaced, if it is one of the inputs, if the name is that
    /// of a dangling link, and for binary content if standard output is a terminal. Throws output_error if it cannot be
    /// written. Nothing that is there is touched before finish().
    output_file(output_choice const& to, content what, std::span<std::string const> inputs = {});
    output_file(output_file const&) = delete;
    output_file& operator=(output_file const&) = delete;
    /// Without finish(), no file stays.
    ~output_file();

    /// Appends. Throws output_error; closed_pipe if standard output was closed by its reader.
    void write(std::span<std::uint8_t const> bytes) override;
    bool overwrite_begin(std::span<std::uint8_t const> bytes) override;
    /// Gives the file its name. If one of that name has appeared meanwhile that must not be replaced, the next free
    /// name of the form NAME_2.EXTENSION is taken. Returns the name. Throws output_error.
    std::string finish();
    /// The same, for those who want no other name: throws output_error, which says where the file is then.
    void finish_as_named();

    /// Whether it is written as it comes, and cannot be changed any more.
    [[nodiscard]] bool is_stream() const noexcept override { return path_.empty(); }
    /// As it was chosen.
    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    /// A name in the folder where it is written, for another file that is needed meanwhile; for a stream, in that for
    /// temporary files. Nothing has it.
    [[nodiscard]] std::string name_beside() const;
    /// Bytes so far.
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

private:
    void open_temporary(std::string const& path, std::optional<unsigned> mode);
    void close();
    [[noreturn]] void fail(int error) const;

    std::string name_;
    bool force_;
    int descriptor_ = -1;
    std::string path_;      // links resolved; empty for a stream
    std::string temporary_; // empty when it is not there
    std::unique_ptr<unfinished_name> unfinished_;
    std::uint64_t size_ = 0;
};

/// Writes everything and finishes as named, unless the program is interrupted: then no file appears. Throws as
/// output_file does.
void write_whole(output_file& file, std::span<std::uint8_t const> bytes);

/// NAME_2.EXTENSION for 2.
[[nodiscard]] std::string numbered(std::string const& name, unsigned number);
} // namespace teewire::replay
