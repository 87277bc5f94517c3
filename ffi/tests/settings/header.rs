//! What the header says of structs: which members they have, and what their macros set.

use std::collections::HashMap;
use std::slice;

use plimsoll_ffi::assignment::{Assignment, Endpoint, LocalityHosts};
use plimsoll_ffi::hash_policy::HashPolicy;
use plimsoll_ffi::settings::ClusterSettings;
use plimsoll_ffi::settings::hashing::{MaglevSettings, RingHashSettings};
use plimsoll_ffi::settings::locality::{LoadAwareSettings, ZoneAwareSettings};
use plimsoll_ffi::settings::override_host::OverrideHostSettings;
use plimsoll_ffi::settings::policy::{LeastRequestSettings, SlowStartSettings};
use plimsoll_ffi::settings::weighted::{OobReporting, WeightedSettings};

use crate::support;

/// The members of each struct and their types, from the header.
pub(crate) struct Structs(HashMap<String, HashMap<String, String>>);

impl Structs {
    pub(crate) fn read() -> Self {
        let header = support::header();
        let structs = header.split("typedef struct ").skip(1).filter_map(|text| {
            let (name, rest) = text.split_once(" {\n")?;
            let members = rest.split("\n}").next()?.lines().filter_map(|line| {
                let declared = line.strip_prefix("    ")?.strip_suffix(';')?;
                let (kind, name) = declared.rsplit_once([' ', '*'])?;
                let kind = kind.trim_start_matches("const ").trim_start_matches("struct ");
                Some((name.to_owned(), kind.trim_end_matches([' ', '*']).to_owned()))
            });
            Some((name.to_owned(), members.collect()))
        });
        Self(structs.collect())
    }

    /// Whether `path`, such as `localities[0].hosts[1].weight`, leads to a member of the struct.
    pub(crate) fn has(&self, name: &str, path: &str) -> bool {
        let mut kind = name;
        for part in path.split('.') {
            let member = part.split('[').next().unwrap_or_default();
            match self.0.get(kind).and_then(|members| members.get(member)) {
                Some(of) => kind = of,
                None => return false,
            }
        }
        true
    }
}

#[test]
fn the_header_is_understood() {
    let structs = Structs::read();
    assert!(structs.has("plimsoll_cluster_settings", "slow_start.aggression.runtime_key"));
    assert!(structs.has("plimsoll_assignment", "localities[7].hosts[0].weight"));
    assert!(!structs.has("plimsoll_cluster_settings", "slow_start.aggression.weight"));
    assert!(!structs.has("plimsoll_cluster_settings", "least_request_lb_config"));
}

/// The bytes of a struct, which has no padding.
fn bytes<T: Default>() -> String {
    let value = T::default();
    // SAFETY: so many bytes are there, and all are set.
    let bytes = unsafe { slice::from_raw_parts((&raw const value).cast::<u8>(), size_of::<T>()) };
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_macros_of_c_are_the_defaults() {
    let structs = [
        ("cluster_settings", bytes::<ClusterSettings>()),
        ("slow_start", bytes::<SlowStartSettings>()),
        ("least_request", bytes::<LeastRequestSettings>()),
        ("client_side_weighted_round_robin", bytes::<WeightedSettings>()),
        ("oob_reporting", bytes::<OobReporting>()),
        ("ring_hash", bytes::<RingHashSettings>()),
        ("maglev", bytes::<MaglevSettings>()),
        ("hash_policy", bytes::<HashPolicy>()),
        ("zone_aware", bytes::<ZoneAwareSettings>()),
        ("load_aware_locality", bytes::<LoadAwareSettings>()),
        ("override_host", bytes::<OverrideHostSettings>()),
        ("assignment", bytes::<Assignment>()),
        ("locality_hosts", bytes::<LocalityHosts>()),
        ("endpoint", bytes::<Endpoint>()),
    ];
    let shows = structs.iter().map(|(name, _)| {
        let begins = name.to_uppercase();
        format!(
            "{{ plimsoll_{name} it = PLIMSOLL_{begins}_INIT;\n\
             for (size_t i = 0; i < sizeof it; i++) printf(\"%02x\", ((unsigned char *)&it)[i]);\n\
             puts(\"\"); }}\n"
        )
    });
    let program = format!(
        "#include <stdio.h>\n#include \"plimsoll/plimsoll.h\"\nint main(void) {{\n{}}}\n",
        shows.collect::<String>()
    );
    let source = support::scratch("c").join("defaults.c");
    std::fs::write(&source, program).expect("target is writable");
    let shown = support::run_c(&[source], "defaults");
    for ((name, expected), found) in structs.iter().zip(shown.lines()) {
        assert_eq!(found, expected, "{name}");
    }
    assert_eq!(shown.lines().count(), structs.len());
}
