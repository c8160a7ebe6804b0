// A verb of the program: what it is called, the options that it takes, and what runs.
//
// Verbs declare their options here instead of with the parser, so that the same thing has the same name, form and
// explanation in all of them.
#pragma once

#include "base/interrupts.hpp"
#include "base/output_file.hpp"
#include "cli/shard.hpp"
#include "cli/times.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace teewire::replay {

/// Fills what it is given when the command line is parsed. Everything given must outlive that.
class option_set {
public:
    explicit option_set(CLI::App& command) : command_{command} {}

    /// FILE, to be read.
    void file(std::string& file, char const* help);
    /// FILE..., one at least.
    void files(std::vector<std::string>& files, char const* help);
    /// FILE FILE, both of them.
    void two_files(std::vector<std::string>& files, char const* help);
    /// NAME, what is not a file alone.
    void operand(std::string& operand, char const* name, char const* help);
    /// NAME..., one at least.
    void operands(std::vector<std::string>& operands, char const* name, char const* help);
    /// -o, --output and --force.
    enum class presence : bool { optional, required };
    void output(output_choice& to, presence p = presence::optional,
                char const* help = "file to write; - is standard output");
    /// -o, --output: a file or folder that is added to.
    void collection(std::string& name, char const* help, char const* value_name = "FILE");
    /// --format: one of the names.
    void format(std::string& format, std::vector<std::string> const& names, char const* help);
    /// --jobs
    void jobs(unsigned& jobs);
    /// --connection: of a capture, as for choose_connection.
    void connection(std::string& which);
    /// --raw: texts in CSV as they are.
    void raw_texts(bool& raw);

    void flag(char const* name, bool& value, char const* help);
    void text(char const* name, std::string& value, char const* help, char const* value_name = "TEXT");
    void text(char const* name, std::optional<std::string>& value, char const* help,
              char const* value_name = "TEXT");
    /// Can be given several times.
    void texts(char const* name, std::vector<std::string>& values, char const* help,
               char const* value_name = "TEXT");
    /// Several, with commas between them.
    void words(char const* name, std::vector<std::string>& words, char const* help);
    void choice(char const* name, std::string& value, std::vector<std::string> const& choices, char const* help);
    /// `T`: double, unsigned, int, std::int32_t, std::uint16_t, std::size_t, or one of these that is optional.
    template <class T>
    void number(char const* name, T& value, double least, double most, char const* help);
    /// --shard: one part of the files.
    void part(std::optional<shard>& part);
    /// So many, with commas between them.
    void numbers(char const* name, std::vector<std::int64_t>& values, std::size_t count, char const* help);
    /// A number of bytes: 500, 64k, 8G.
    void bytes(char const* name, std::uint64_t& value, char const* help);
    /// A place in a recording.
    void position(char const* name, std::optional<time_position>& value, char const* help);
    /// Places; can be given several times.
    void positions(char const* name, std::vector<time_position>& values, char const* help);
    /// How long, in seconds. What it holds is the default.
    void duration(char const* name, std::optional<double>& value, char const* help);
    /// Only one of these.
    void exclusive(std::initializer_list<char const*> names);

    /// For --help, below the options.
    void remark(std::string const& text);
    /// Lines that can be typed as they are, without the program's name.
    void examples(std::initializer_list<char const*> lines);

private:
    CLI::App& command_;
};

struct verb {
    char const* name;
    char const* summary;
    /// Declares the options; what it gives runs the verb with them. That returns an exit code, and throws bad_input,
    /// io_error or usage_error.
    std::function<int()> (*declare)(option_set&);
    ending after_signal = ending::soon;
};

} // namespace teewire::replay
