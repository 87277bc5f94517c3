// Runs replays on the C++ layer of Plimsoll: JSON lines in, one operation a line; JSON lines out, one result
// an operation. The same bytes as `plimsoll replay`, see docs/replay.md.

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "session.hpp"

namespace {

constexpr std::string_view USAGE =
    "usage: replay [--check [-q | --quiet]] FILE...\n"
    "Runs the operations in FILE and prints the result of each; - is standard input.\n"
    "  --check      also compare results with what operations expect; takes several files\n"
    "  -q, --quiet  print only what is not as expected\n";

// How a program ends.
enum End { ALL_WELL = 0, NOT_AS_EXPECTED = 1, CANNOT_RUN = 2 };

struct Options {
    bool check = false;
    bool quiet = false;
    std::vector<std::string> files;
};

// Nothing for a mistake.
std::optional<Options> read_options(int count, char** arguments) {
    Options options;
    for (int index = 1; index < count; index++) {
        const std::string argument = arguments[index];
        if (argument == "--check") {
            options.check = true;
        } else if (argument == "--quiet" || argument == "-q") {
            options.quiet = true;
        } else if (argument.size() > 1 && argument[0] == '-') {
            return std::nullopt;
        } else {
            options.files.push_back(argument);
        }
    }
    const bool makes_sense = (options.check || !options.quiet) && !options.files.empty() &&
                             (options.check || options.files.size() == 1);
    return makes_sense ? std::optional(options) : std::nullopt;
}

void write_result(const replay::LineResult& result) {
    std::cout << '{';
    if (!result.id.is_discarded()) {
        std::cout << "\"id\":" << replay::text_of(result.id) << ',';
    }
    std::cout << '"' << result.answer.first << "\":" << result.answer.second << "}\n";
}

// Whether a result is as expected; says so if it is not.
bool check(const std::string& place, const replay::LineResult& result) {
    if (result.expect.is_discarded() ||
        replay::is_expected(result.expect, replay::parse(result.answer.second))) {
        return true;
    }
    std::cout << place << "expected " << replay::text_of(result.expect) << " got "
              << result.answer.second << '\n';
    return false;
}

End run(const std::string& name, std::istream& input, const Options& options, bool flushes) {
    replay::Session session;
    End end = ALL_WELL;
    std::string line;
    for (std::uint64_t number = 1; std::getline(input, line); number++) {
        const std::string place = name + ":" + std::to_string(number) + ": ";
        try {
            const auto result = session.run(line);
            if (result && !options.quiet) {
                write_result(*result);
            }
            if (result && options.check && !check(place, *result)) {
                end = NOT_AS_EXPECTED;
            }
        } catch (const replay::Malformed& malformed) {
            std::cout.flush();
            std::cerr << place << malformed.what() << '\n';
            return CANNOT_RUN;
        }
        if (flushes) {
            std::cout.flush();
        }
        if (!std::cout) {
            return CANNOT_RUN;
        }
    }
    return end;
}

End run_file(const std::string& name, const Options& options) {
    if (name == "-") {
        return run(name, std::cin, options, true);
    }
    std::ifstream file(name, std::ios::binary);
    if (!file) {
        std::cerr << name << ": " << std::strerror(errno) << '\n';
        return CANNOT_RUN;
    }
    return run(name, file, options, false);
}

}  // namespace

int main(int count, char** arguments) {
    std::ios::sync_with_stdio(false);
    const auto options = read_options(count, arguments);
    if (!options) {
        std::cerr << USAGE;
        return CANNOT_RUN;
    }
    int end = ALL_WELL;
    for (const std::string& file : options->files) {
        const End own = run_file(file, *options);
        end = std::max<int>(end, own);
        if (own == CANNOT_RUN) {
            break;
        }
    }
    return std::cout.flush() ? end : CANNOT_RUN;
}
