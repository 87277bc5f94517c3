// What a cluster looks like, and the hash of a request.

#include "session.hpp"
#include "values.hpp"

namespace replay {

Answer run_show(Operation& op) {
    using plimsoll::DumpPart;
    using plimsoll::Source;
    static constexpr std::pair<const char*, DumpPart> parts[] = {
        {"loads", DumpPart::loads}, {"hosts", DumpPart::hosts},
        {"localities", DumpPart::localities}, {"table", DumpPart::table},
        {"stats", DumpPart::stats}, {"snapshot", DumpPart::snapshot},
    };
    constexpr Source sources[] = {Source::healthy, Source::degraded, Source::all};
    const auto word =
        op.keys.word("what", {"loads", "hosts", "localities", "table", "stats", "snapshot"});
    const auto& [what, part] = parts[*op.keys.required(word, "what")];
    plimsoll::Dump dump;
    dump.part = part;
    dump.priority = op.keys.integer("priority");
    if (const auto source = op.keys.word("source", {"healthy", "degraded", "all"})) {
        dump.source = sources[*source];
    }
    if ((dump.priority || dump.source) && part != DumpPart::localities && part != DumpPart::table) {
        throw Malformed(op.keys.path_of(dump.priority ? "priority" : "source") +
                        ": only localities and table have this key");
    }
    return {what, value_of(op.cluster().handle().dump(dump))};
}

namespace {

// Cookies are headers without lists.
HeaderValues read_cookies(const std::string& path, const Json* cookies) {
    HeaderValues read;
    if (cookies == nullptr) {
        return read;
    }
    for (const auto& cookie : cookies->items()) {
        if (!cookie.value().is_string()) {
            refuse_type(path + "." + cookie.key(), "a string", cookie.value());
        }
        read[cookie.key()] = {HeaderValue{cookie.value().get<std::string>(), false}};
    }
    return read;
}

}  // namespace

Answer run_hash(Operation& op) {
    const Json& policies = *op.keys.required(op.keys.list("policies"), "policies");
    for (std::size_t index = 0; index < policies.size(); index++) {
        // They are objects that the library reads.
        Keys(policies[index], op.keys.path_of("policies") + "[" + std::to_string(index) + "]");
    }
    Keys keys(*op.keys.required(op.keys.find("request"), "request"), op.keys.path_of("request"));
    const auto headers = read_headers(keys.path_of("headers"), keys.object("headers"));
    const std::string query = keys.text("query").value_or("");
    const auto cookies = read_cookies(keys.path_of("cookies"), keys.object("cookies"));
    const std::string source_ip = keys.text("source_ip").value_or("");
    keys.end();
    op.begin();

    const auto parsed = value_of(plimsoll::HashPolicies::parse(text_of(policies)));
    const Headers own_headers = decode("request.headers", headers);
    const Headers own_cookies = decode("request.cookies", cookies);
    const auto lent_headers = lent(own_headers), lent_cookies = lent(own_cookies);
    plimsoll::Request request;
    request.headers = lent_headers;
    request.cookies = lent_cookies;
    request.query = query;
    request.source_ip = source_ip;
    const auto hash = parsed.hash(request);
    return {"hash", hash ? std::to_string(*hash) : "null"};
}

}  // namespace replay
