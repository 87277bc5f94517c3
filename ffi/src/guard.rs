//! Where panics end.
//!
//! Unwinding into C is not defined, so every exported function runs its body in [`guard`] and
//! answers [`Status::Panic`] instead. A panic under the control lock leaves the engine poisoned,
//! which later control calls report; workers go on with the snapshot that they have.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::status::Status;

/// Runs `body`. Should it panic, `recover` makes the answer of the panic's message.
pub fn guard<T>(body: impl FnOnce() -> T, recover: impl FnOnce(String) -> T) -> T {
    // What a body can leave half done lies on its own stack or behind the engine's control lock,
    // and that lock knows that it was left by a panic.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(answer) => answer,
        Err(payload) => recover(message(payload)),
    }
}

/// The guard of calls that answer nothing but a status: those of a worker, and the texts.
pub(crate) fn status(body: impl FnOnce() -> Result<(), Status>) -> Status {
    match guard(body, |_| Err(Status::Panic)) {
        Ok(()) => Status::Ok,
        Err(status) => status,
    }
}

/// The guard of calls that answer nothing at all.
pub(crate) fn silent(body: impl FnOnce()) {
    guard(body, |_| ());
}

fn message(payload: Box<dyn Any + Send>) -> String {
    let payload = match payload.downcast::<String>() {
        Ok(text) => return *text,
        Err(other) => other,
    };
    match payload.downcast::<&'static str>() {
        Ok(text) => (*text).to_owned(),
        Err(other) => {
            // The destructor of a value that we know nothing of might panic in its turn.
            std::mem::forget(other);
            "a panic without a message".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct PanicsWhenDropped;

    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    #[test]
    fn a_panic_becomes_its_message() {
        assert_eq!(guard(|| panic!("plain"), |message| message), "plain");
        assert_eq!(guard(|| panic!("number {}", 7), |message| message), "number 7");
    }

    #[test]
    fn a_payload_whose_destructor_panics_is_contained() {
        let answer = guard(|| std::panic::panic_any(PanicsWhenDropped), |message| message);
        assert_eq!(answer, "a panic without a message");
    }

    #[test]
    fn a_panic_in_a_worker_call_is_a_status() {
        assert_eq!(status(|| panic!("in a pick")), Status::Panic);
        silent(|| panic!("in a free"));
    }
}
