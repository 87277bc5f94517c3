//! What a YAML text consists of, with aliases replaced by what they stand for.
//!
//! An anchored node is recorded when it is read, and read again from the record wherever an alias
//! names it. The record keeps aliases as they are, so that it cannot grow faster than the text.
//! Limits count what is delivered, whether it comes from the text or from the record.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::{Options, Parser, ScalarStyle, Span, StrInput, Tag};

use super::scalar::{Kind, Scalar, Type, shown};
use crate::error::ParseError;

/// Enough for a million hosts; plain text, so the size of the file bounds it as well.
const MAX_NODES: usize = 50_000_000;
/// Envoy's deepest configuration of a cluster has about twenty levels.
const MAX_DEPTH: usize = 64;
/// What all aliases together may add, in events. Ordinary files share a health check or two.
const MAX_ALIASED: usize = 1_000_000;
/// As many bytes of a scalar that an alias adds count as one more event.
const ALIASED_BYTES: usize = 64;

/// A place in the text, from 1.
#[derive(Clone, Copy)]
pub(super) struct Place {
    line: usize,
    column: usize,
}

impl Place {
    fn of(span: &Span) -> Self {
        Self { line: span.start.line(), column: span.start.col() + 1 }
    }

    /// What is wrong here.
    pub(super) fn error(self, message: impl Into<String>) -> ParseError {
        ParseError::Syntax { line: self.line, column: self.column, message: message.into() }
    }
}

#[derive(Clone)]
pub(super) struct Event<'a> {
    pub(super) node: Node<'a>,
    /// Where it stands in the text; of what an alias adds, where the anchor has it.
    pub(super) place: Place,
}

#[derive(Clone)]
pub(super) enum Node<'a> {
    Scalar(Scalar<'a>),
    /// A list begins.
    List,
    /// A mapping begins; keys and values take turns.
    Map,
    /// The list or mapping ends that began last.
    End,
}

/// What stands in the text.
#[derive(Clone)]
enum Item<'a> {
    Event(Event<'a>),
    /// The record that the alias names.
    Alias(Range<usize>, Place),
}

/// An anchored list or mapping that is not complete.
struct Recording {
    anchor: usize,
    /// Where its record begins.
    from: usize,
    level: usize,
}

/// An alias that is being replaced by a record.
struct Replay {
    rest: Range<usize>,
    /// Where the alias stands.
    place: Place,
}

/// The events of a text, one after another.
pub(super) struct Events<'a> {
    parser: Parser<'a, StrInput<'a>>,
    /// Lists and mappings of the text that are open.
    level: usize,
    record: Vec<Item<'a>>,
    recordings: Vec<Recording>,
    /// The records of anchored nodes that are complete, by the parser's number of the anchor.
    anchors: Vec<Option<Range<usize>>>,
    /// Each inside of the one before.
    replays: Vec<Replay>,
    /// Lists and mappings that are open, those that aliases add included.
    depth: usize,
    nodes: usize,
    aliased: usize,
}

impl<'a> Events<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut options = Options::default();
        // Even when another crate of the program wants comments of the parser.
        options.set_emit_comments(false);
        Self {
            parser: Parser::new_from_str_with_options(text, options),
            level: 0,
            record: Vec::new(),
            recordings: Vec::new(),
            anchors: Vec::new(),
            replays: Vec::new(),
            depth: 0,
            nodes: 0,
            aliased: 0,
        }
    }

    /// The next event; none at the end of the text.
    pub(super) fn next(&mut self) -> Result<Option<Event<'a>>, ParseError> {
        loop {
            let item = match self.replays.last_mut() {
                Some(replay) => match replay.rest.next() {
                    Some(index) => self.record[index].clone(),
                    None => {
                        self.replays.pop();
                        continue;
                    }
                },
                None => match self.scan()? {
                    Some(item) => item,
                    None => return Ok(None),
                },
            };
            match item {
                Item::Event(event) => {
                    self.count(&event)?;
                    return Ok(Some(event));
                }
                Item::Alias(rest, place) => self.replays.push(Replay { rest, place }),
            }
        }
    }

    /// The next event of a list or mapping that is open.
    pub(super) fn inside(&mut self) -> Result<Event<'a>, ParseError> {
        let event = self.next()?;
        event.ok_or_else(|| Place { line: 0, column: 0 }.error("the text ends too early"))
    }

    /// What stands next in the text.
    fn scan(&mut self) -> Result<Option<Item<'a>>, ParseError> {
        use granit_parser::Event as Parsed;

        while let Some(parsed) = self.parser.next() {
            let (parsed, span) = parsed
                .map_err(|error| Place::of(&Span::empty(*error.marker())).error(error.info()))?;
            let place = Place::of(&span);
            let event = |node| Item::Event(Event { node, place });
            return Ok(Some(match parsed {
                Parsed::Scalar(text, style, anchor, tag) => {
                    let plain = style == ScalarStyle::Plain;
                    let scalar = Scalar { text, plain, tag: type_of(tag, Kind::Scalar, place)? };
                    self.keep_scalar(event(Node::Scalar(scalar)), anchor)
                }
                Parsed::SequenceStart(_, anchor, tag) => {
                    type_of(tag, Kind::List, place)?;
                    self.keep_start(event(Node::List), anchor)
                }
                Parsed::MappingStart(_, anchor, tag) => {
                    type_of(tag, Kind::Map, place)?;
                    self.keep_start(event(Node::Map), anchor)
                }
                Parsed::SequenceEnd | Parsed::MappingEnd => self.keep_end(event(Node::End)),
                Parsed::Alias(anchor) => match self.anchors.get(anchor) {
                    Some(Some(record)) => self.keep(Item::Alias(record.clone(), place)),
                    _ => return Err(place.error("an alias stands inside of what it names")),
                },
                // The beginning or end of a document, which has no meaning of its own.
                _ => continue,
            }));
        }
        Ok(None)
    }

    fn keep_scalar(&mut self, item: Item<'a>, anchor: usize) -> Item<'a> {
        if anchor == 0 {
            return self.keep(item);
        }
        self.record.push(item.clone());
        self.complete(anchor, self.record.len() - 1);
        item
    }

    fn keep_start(&mut self, item: Item<'a>, anchor: usize) -> Item<'a> {
        if anchor != 0 {
            self.recordings.push(Recording { anchor, from: self.record.len(), level: self.level });
        }
        self.level += 1;
        self.keep(item)
    }

    fn keep_end(&mut self, item: Item<'a>) -> Item<'a> {
        let item = self.keep(item);
        self.level = self.level.saturating_sub(1);
        let level = self.level;
        if let Some(ended) = self.recordings.pop_if(|recording| recording.level == level) {
            self.complete(ended.anchor, ended.from);
        }
        item
    }

    /// Records what belongs to an anchored node.
    fn keep(&mut self, item: Item<'a>) -> Item<'a> {
        if !self.recordings.is_empty() {
            self.record.push(item.clone());
        }
        item
    }

    /// The node of an anchor has been recorded from an index on.
    fn complete(&mut self, anchor: usize, from: usize) {
        if self.anchors.len() <= anchor {
            self.anchors.resize(anchor + 1, None);
        }
        self.anchors[anchor] = Some(from..self.record.len());
    }

    /// Refuses what is too much.
    fn count(&mut self, event: &Event<'a>) -> Result<(), ParseError> {
        let mut bytes = 0;
        match &event.node {
            Node::Scalar(scalar) => bytes = scalar.text.len(),
            Node::List | Node::Map => self.depth += 1,
            Node::End => self.depth = self.depth.saturating_sub(1),
        }
        if !matches!(event.node, Node::End) {
            self.nodes += 1;
        }
        let alias = self.replays.first();
        if alias.is_some() {
            self.aliased += 1 + bytes / ALIASED_BYTES;
        }
        let place = alias.map_or(event.place, |alias| alias.place);
        if self.depth > MAX_DEPTH {
            Err(place.error(format!("nested deeper than {MAX_DEPTH} lists and mappings")))
        } else if self.nodes > MAX_NODES {
            Err(place.error(format!("more than {MAX_NODES} values")))
        } else if self.aliased > MAX_ALIASED {
            Err(place.error("aliases make the text too large"))
        } else {
            Ok(())
        }
    }
}

/// What the tag of a node says of it, unless the node cannot have the tag.
fn type_of(tag: Option<Cow<'_, Tag>>, kind: Kind, place: Place) -> Result<Type, ParseError> {
    let Some(tag) = tag else { return Ok(Type::Untagged) };
    let (handle, suffix) = tag.parts();
    let named = Type::named(&format!("{handle}{suffix}"));
    match named.kind() {
        Some(needed) if needed != kind => {
            Err(place.error(format!("the tag {} does not fit here", shown(&tag.original()))))
        }
        _ => Ok(named),
    }
}
