//! One page with everything that a run has shown, for a browser: no script, and nothing from
//! elsewhere.

mod draw;
mod figure;
mod frame;
mod plots;
mod tables;

use std::fmt::{self, Write as _};

pub(crate) use self::figure::figure;
use self::plots::colour;
use super::Run;
use super::event::InWords;
use super::scenario::{Place, Scenario};

/// So many proxies are shown one by one, those with the most requests.
const SHOWN_PROXIES: usize = 3;

const STYLE: &str = include_str!("style.css");

/// The page; `text` is the scenario as it was written.
pub(crate) fn page(scenario: &Scenario, text: &str, runs: &[Run]) -> String {
    let mut page = Page { scenario, runs, html: String::new() };
    let title = escape(&scenario.title);
    page.add(format_args!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n"
    ));
    page.facts();
    page.add(format_args!("{}", tables::summary(scenario, runs)));
    page.utilization();
    page.modes();
    page.proxies();
    page.trouble();
    page.add(format_args!(
        "<details>\n<summary>The scenario</summary>\n<pre>{}</pre>\n</details>\n</main>\n</body>\n\
         </html>\n",
        escape(text)
    ));
    page.html
}

/// Text as it may stand in a page.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() && c != '\n' && c != '\t' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

fn number(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// A page that grows.
struct Page<'a> {
    scenario: &'a Scenario,
    runs: &'a [Run],
    html: String,
}

impl Page<'_> {
    fn add(&mut self, part: fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.html.write_fmt(part);
    }

    fn facts(&mut self) {
        let Scenario { about, zones, proxies, events, seed, duration, reports, .. } = self.scenario;
        let requests = self.runs.first().map_or(0, |run| run.summary.requests);
        let policy = self.scenario.policy();
        let facts = [
            duration.to_string(),
            number(self.scenario.zones_with_hosts().count(), "zone", "zones"),
            number(self.scenario.hosts(), "host", "hosts"),
            number(proxies.len(), "proxy", "proxies"),
            format!("{requests} requests"),
            format!("hosts measure over {}", reports.window),
            format!("policy {policy}"),
            format!("seed {seed}"),
            concat!("plimsoll ", env!("CARGO_PKG_VERSION")).to_owned(),
        ];
        let facts: String = facts.iter().map(|fact| format!("<span>{fact}</span> ")).collect();
        let about = escape(about);
        self.add(format_args!("<p>{about}</p>\n<p class=\"facts\">{facts}</p>\n"));
        if events.is_empty() {
            return;
        }
        self.add(format_args!("<ol class=\"events\">\n"));
        for (index, event) in events.iter().enumerate() {
            let words = InWords { change: &event.change, zones, proxies };
            let (number, at) = (index + 1, event.at);
            self.add(format_args!("<li><b>{number}</b> at {at}: {words}</li>\n"));
        }
        self.add(format_args!("</ol>\n"));
    }

    /// A heading, what it shows, and the colours.
    fn section(&mut self, heading: &str, note: &str, legend: &[(String, String)]) {
        self.add(format_args!("<h2>{heading}</h2>\n<p class=\"note\">{note}</p>\n"));
        if legend.len() < 2 {
            return;
        }
        self.add(format_args!("<div class=\"legend\">"));
        for (class, name) in legend {
            self.add(format_args!("<span class=\"{class}\"><i></i>{name}</span>"));
        }
        self.add(format_args!("</div>\n"));
    }

    /// A plot for each run, side by side.
    fn pair(&mut self, caption: &str, plot: impl Fn(&Run) -> String) {
        self.add(format_args!("<div class=\"pair\">\n"));
        for run in self.runs {
            let behavior = run.behavior.name();
            self.add(format_args!(
                "<figure><figcaption><b>{behavior}</b>{caption}</figcaption>{}</figure>\n",
                plot(run)
            ));
        }
        self.add(format_args!("</div>\n"));
    }

    fn zones_legend(&self) -> Vec<(String, String)> {
        let named = |(index, zone): (usize, &Place)| (colour(index), format!("zone {}", zone.name));
        self.scenario.zones_with_hosts().map(named).collect()
    }

    fn utilization(&mut self) {
        let (scenario, top) = (self.scenario, plots::top(self.runs));
        let legend = self.zones_legend();
        let note = "Requests of each second by what the zone's hosts can take; above 1 it has too \
                    many. The figures count from the end of the shaded warm-up on.";
        self.section("How busy zones are", note, &legend);
        self.pair("", |run| plots::utilization(scenario, run, top));
        if !scenario.shows_hosts() {
            return;
        }
        let names = scenario.host_names().into_iter().enumerate();
        let legend: Vec<_> = names.map(|(index, name)| (colour(index), name)).collect();
        self.section("How busy hosts are", "The same for each host, while it is up.", &legend);
        self.pair("", |run| plots::hosts(scenario, run, top));
    }

    fn proxies(&mut self) {
        if self.scenario.zones.len() < 2 {
            return;
        }
        let (scenario, legend) = (self.scenario, self.zones_legend());
        let proxies = self.busiest_proxies();
        let caption = |proxy: usize| {
            let home = &scenario.zones[scenario.proxies[proxy].zone].name;
            format!(": {}, in zone {home}", scenario.proxies[proxy].name)
        };
        let (busiest, shown) = (proxies[0], &proxies[..proxies.len().min(SHOWN_PROXIES)]);
        let note = format!(
            "The part of each second's requests that went to each zone; the proxy's own zone is at \
             the bottom. {} of {} proxies, those with the most requests.",
            shown.len(),
            proxies.len()
        );
        self.section("Where requests go", &note, &legend);
        for &proxy in shown {
            self.pair(&caption(proxy), |run| plots::shares(scenario, run, proxy));
        }
        let note = "The part of the traffic that the engine of the busiest proxy means to send to \
                    each locality, as its view shows it at the end of each second.";
        self.section("Weights of localities", note, &legend);
        self.pair(&caption(busiest), |run| plots::intended(scenario, run, busiest));
    }

    /// All proxies, the one with the most requests first.
    fn busiest_proxies(&self) -> Vec<usize> {
        let requests = |proxy: &usize| {
            let seconds = self.runs.iter().flat_map(|run| &run.record.seconds);
            let of_proxy = seconds.flat_map(|second| &second.proxies[*proxy].requests);
            std::cmp::Reverse(of_proxy.map(|&requests| u64::from(requests)).sum::<u64>())
        };
        let mut proxies: Vec<usize> = (0..self.scenario.proxies.len()).collect();
        proxies.sort_by_cached_key(requests);
        proxies
    }

    fn modes(&mut self) {
        if self.scenario.zones.len() < 2 {
            return;
        }
        let scenario = self.scenario;
        let legend = [("calm", "local-mostly"), ("alarm", "spilling")]
            .map(|(class, name)| (class.to_owned(), name.to_owned()));
        let note = "A proxy is local-mostly once its engine means to keep more than 60 % of the \
                    traffic in its zone, and spilling once it is less than 40 %. Each change of \
                    colour is a flip.";
        self.section("Modes", note, &legend);
        self.pair("", |run| plots::mode_strips(scenario, run));
    }

    fn trouble(&mut self) {
        let scenario = self.scenario;
        let legend = [("errors", "no host that serves"), ("overload", "beyond a host's capacity")]
            .map(|(class, name)| (class.to_owned(), name.to_owned()));
        let Some(top) = plots::trouble_top(self.runs) else {
            let note = "Every request found a host that serves and that had room for it.";
            self.section("Errors and overload", note, &[]);
            return;
        };
        self.section("Errors and overload", "Parts of each second's requests.", &legend);
        self.pair("", |run| plots::trouble(scenario, run, top));
    }
}
