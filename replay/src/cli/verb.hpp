// A verb of the program: its name, its options, and the function that runs it.
//
// Verbs declare their options here instead of with the parser, so the same option has the same name, form and
// explanation in all of them.
#pragma once

#include "base/interrupts.hpp"
#include "base/output_file.hpp"
#include "cli/folders.hpp"
#include "cli/shard.hpp"
#include "cli/times.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace teewire::replay {

/// Declares options. Parsing the command line fills the variables given here, which must live until then.
class option_set {
public:
    explicit option_set(CLI::App& command) : command_{command} {}

    /// FILE, to be read.
    void file(std::string& file, char const* help);
    /// FILE..., one at least. A folder stands for its files of that content.
    void files(std::vector<std::string>& files, folder_content content, char const* help);
    /// FILE FILE, both of them.
    void two_files(std::vector<std::string>& files, char const* help);
    /// NAME, which is more than the name of a file.
    void operand(std::string& operand, char const* name, char const* help);
    /// The same for operands() that are files.
    void folders(std::vector<std::string>& files, folder_content content);
    /// NAME..., one at least.
    void operands(std::vector<std::string>& operands, char const* name, char const* help);
    /// -o, --output and --force.
    enum class presence : bool { optional, required };
    void output(output_choice& to, presence p = presence::optional,
                char const* help = "file to write; -: standard output");
    /// -o, --output: a file or folder that is added to.
    void collection(std::string& name, char const* help, char const* value_name = "FILE");
    /// --format: one of the names.
    void format(std::string& format, std::vector<std::string> const& names, char const* help);
    /// --jobs
    void jobs(unsigned& jobs);
    /// --connection, as choose_connection takes it.
    void connection(std::string& which);
    /// --raw: text in CSV unchanged.
    void raw_texts(bool& raw);

    void flag(char const* name, bool& value, char const* help);
    void text(char const* name, std::string& value, char const* help, char const* value_name = "TEXT");
    void text(char const* name, std::optional<std::string>& value, char const* help,
              char const* value_name = "TEXT");
    /// Can be given several times.
    void texts(char const* name, std::vector<std::string>& values, char const* help,
               char const* value_name = "TEXT");
    /// Several, with commas between them; a comma in a name is written "\,". Can be given several times.
    void words(char const* name, std::vector<std::string>& words, char const* help);
    void choice(char const* name, std::string& value, std::vector<std::string> const& choices, char const* help);
    /// `T`: double, unsigned, int, std::int32_t, std::uint16_t, std::size_t, or one of these that is optional.
    template <class T>
    void number(char const* name, T& value, double least, double most, char const* help);
    /// --shard: one part of the files.
    void part(std::optional<shard>& part);
    /// `count` numbers, separated by commas.
    void numbers(char const* name, std::vector<std::int64_t>& values, std::size_t count, char const* help);
    /// A number of bytes: 500, 64k, 8G.
    void bytes(char const* name, std::uint64_t& value, char const* help);
    /// A position in a recording.
    void position(char const* name, std::optional<time_position>& value, char const* help);
    /// Positions; the option can be given several times.
    void positions(char const* name, std::vector<time_position>& values, char const* help);
    /// A duration in seconds. The variable's current value is the default.
    void duration(char const* name, std::optional<double>& value, char const* help);
    /// At most one of these may be given.
    void exclusive(std::initializer_list<char const*> names);

    /// Titles the options that follow, in --help.
    void group(char const* title);
    /// Adds a paragraph to --help, below the options.
    void remark(std::string const& text);
    /// Commands that can be typed, without the program's name.
    void examples(std::initializer_list<char const*> lines);

    /// -q, --quiet and -v, --verbose, which every command has. They take effect when they are parsed.
    void messages();

    /// To be called once the variables are filled. Throws as expand_folders does.
    [[nodiscard]] std::function<void()> expand() const;

private:
    void explain_values(char const* note); // once per command

    CLI::App& command_;
    std::vector<std::pair<std::vector<std::string>*, folder_content>> folders_;
};

struct verb {
    char const* name;
    char const* summary;
    /// Declares the options, and returns the function that runs the verb with them. That function returns an exit
    /// code, and throws bad_input, io_error or usage_error.
    std::function<int()> (*declare)(option_set&);
    ending after_signal = ending::soon;
};

} // namespace teewire::replay
