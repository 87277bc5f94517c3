// Load reports of hosts: as a response brings them, or as an object.

#include <algorithm>
#include <cctype>

#include "session.hpp"
#include "values.hpp"

namespace replay {

using plimsoll::Status;

namespace {

bool same_name(std::string_view left, std::string_view right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == b;
    });
}

// The value of a header; the first one of several counts.
std::optional<std::string_view> find(const Headers& headers, std::string_view name) {
    const auto found =
        std::find_if(headers.begin(), headers.end(),
                     [&](const auto& header) { return same_name(header.first, name); });
    return found == headers.end() ? std::nullopt : std::optional<std::string_view>(found->second);
}

// Why a report is refused. What cannot be read is a mistake in an object, and not in a header.
Refused refused_by(const plimsoll::Error& error, bool is_object) {
    const bool is_unreadable =
        error.status() == Status::no_report || error.status() == Status::report_unreadable;
    if (!is_unreadable) {
        return Refused::by(error);
    }
    const std::string message(error.message());
    return is_object ? Refused::invalid("orca", message) : Refused{"report_rejected", "", message};
}

}  // namespace

Answer run_report(Operation& op) {
    const std::string host = *op.keys.required(op.keys.text("host"), "host");
    const std::uint64_t number = op.keys.integer("worker").value_or(0);
    const Json* orca = op.keys.object("orca");
    const Json* given_headers = op.keys.object("headers");
    const Json* given_trailers = op.keys.object("trailers");
    const HeaderValues read = read_headers(op.keys.path_of("headers"), given_headers);
    const HeaderValues read_after = read_headers(op.keys.path_of("trailers"), given_trailers);
    const bool echo = op.keys.flag("echo");
    Cluster& cluster = op.cluster();
    cluster.worker(number);
    cluster.check_hosts({host});
    if (orca != nullptr && (given_headers != nullptr || given_trailers != nullptr)) {
        throw Refused::invalid("orca",
                               "a report is either an object or in headers and trailers");
    }
    const Headers headers = decode("headers", read), trailers = decode("trailers", read_after);
    plimsoll::ResponseLoad load;
    load.header_binary = find(headers, "endpoint-load-metrics-bin");
    load.header_text = find(headers, "endpoint-load-metrics");
    load.trailer_binary = find(trailers, "endpoint-load-metrics-bin");
    load.trailer_text = find(trailers, "endpoint-load-metrics");
    // An object goes in as a header would bring it.
    const std::string object = orca != nullptr ? "JSON " + text_of(*orca) : "";
    if (orca != nullptr) {
        load.header_text = object;
    }

    if (echo) {
        auto shown = plimsoll::to_json(load, cluster.behavior());
        if (!shown) {
            throw refused_by(shown.error(), orca != nullptr);
        }
        // The report comes back, whatever the policy makes of it.
        (void)cluster.handle().report_response(host, load);
        return {"report", *std::move(shown)};
    }
    const auto taken = cluster.handle().report_response(host, load);
    // A policy that does not go by reports ignores them.
    if (!taken && taken.status() != Status::report_not_wanted) {
        throw refused_by(taken.error(), orca != nullptr);
    }
    return ok();
}

}  // namespace replay
