//! Names of members for the paths that the engine gives with its errors, which are those of Envoy's
//! messages.

/// The member of the struct `root` that holds what Envoy has at `field`. `renamed` has the parts of
/// the path that are called something else here, or nothing, where the struct has no such level.
pub(crate) fn path(root: &str, field: &str, renamed: &[(&str, &str)]) -> String {
    let mut path = root.to_owned();
    for part in field.split('.') {
        let (name, index) = part.split_at(part.find('[').unwrap_or(part.len()));
        let other = renamed.iter().find(|(envoys, _)| *envoys == name);
        let name = other.map_or(name, |(_, own)| own);
        if !name.is_empty() {
            path = format!("{path}.{name}{index}");
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_index_and_lose_what_the_struct_does_not_have() {
        let renamed = [("endpoints", "localities"), ("endpoint", "")];
        let member = |field| path("assignment", field, &renamed);
        assert_eq!(member("endpoints[2].priority"), "assignment.localities[2].priority");
        assert_eq!(member("endpoint.address"), "assignment.address");
        assert_eq!(member(""), "assignment");
    }
}
