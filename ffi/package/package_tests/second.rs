//! Another Rust library of the same program, as a stranger would build it: std and all, panics
//! caught at its border.

use std::collections::HashMap;
use std::panic::catch_unwind;
use std::sync::Mutex;

static CAUGHT: Mutex<Option<HashMap<u32, String>>> = Mutex::new(None);

/// Panics with a number, catches it, and answers how many different ones it has caught.
#[unsafe(no_mangle)]
pub extern "C" fn second_panics(number: u32) -> u32 {
    let cause: Result<(), _> = catch_unwind(|| panic!("the second library: {number}"));
    let message = cause.err().and_then(|cause| cause.downcast::<String>().ok());
    let message = message.map_or_else(String::new, |text| *text);
    if !message.ends_with(&number.to_string()) {
        return 0;
    }
    let mut caught = CAUGHT.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let caught = caught.get_or_insert_with(HashMap::new);
    caught.insert(number, message);
    u32::try_from(caught.len()).unwrap_or(0)
}
