//! XML documents as small trees, read and written.
//!
//! Answers come from outside: nesting is bounded, document types are refused, and only the five predefined entities and
//! character references are resolved. Namespaces and attributes mean nothing here.

use std::fmt::Write;

use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};

/// The deepest nesting that is read. AWS stays below ten.
const DEPTH_MAX: usize = 64;

/// An element: its text, or its children.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Element {
    name: String,
    text: String,
    children: Vec<Element>,
}

impl Element {
    pub(crate) fn new(name: &str) -> Self {
        Element { name: name.to_owned(), ..Element::default() }
    }

    /// Adds a child.
    pub(crate) fn with(mut self, child: Element) -> Self {
        self.children.push(child);
        self
    }

    /// Adds a child that holds a text.
    pub(crate) fn with_text(self, name: &str, text: &str) -> Self {
        self.with(Element { name: name.to_owned(), text: text.to_owned(), children: Vec::new() })
    }

    /// Reads a document, or says why it is none.
    pub(crate) fn parse(document: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(document).map_err(|_| "not in UTF-8".to_owned())?;
        let mut reader = Reader::from_str(text);
        let mut open: Vec<Element> = Vec::new();
        loop {
            match reader.read_event().map_err(|error| error.to_string())? {
                Event::Start(start) => {
                    if open.len() == DEPTH_MAX {
                        return Err(format!("nested deeper than {DEPTH_MAX} elements"));
                    }
                    open.push(Element::new(&name(start.local_name().as_ref())));
                }
                Event::Empty(start) => {
                    let element = Element::new(&name(start.local_name().as_ref()));
                    if let Some(root) = closed(element, &mut open) {
                        return Ok(root);
                    }
                }
                Event::End(_) => {
                    let element = open.pop().ok_or("an end without a beginning")?;
                    if let Some(root) = closed(element, &mut open) {
                        return Ok(root);
                    }
                }
                Event::Text(text) => {
                    let text = text.xml10_content().map_err(|error| error.to_string())?;
                    append(&text, &mut open);
                }
                Event::CData(text) => {
                    append(&text.decode().map_err(|error| error.to_string())?, &mut open);
                }
                Event::GeneralRef(reference) => {
                    let character = resolved(&reference)?;
                    append(character.encode_utf8(&mut [0; 4]), &mut open);
                }
                Event::DocType(_) => return Err("it declares a document type".to_owned()),
                Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
                Event::Eof => return Err("it ends too early".to_owned()),
            }
        }
    }

    /// The document, with this namespace on its root.
    pub(crate) fn to_document(&self, namespace: &str) -> String {
        let mut document = String::new();
        self.write(&mut document, &format!(" xmlns=\"{namespace}\""));
        document
    }

    fn write(&self, document: &mut String, attributes: &str) {
        let name = &self.name;
        let _ = write!(document, "<{name}{attributes}>");
        escape(&self.text, document);
        for child in &self.children {
            child.write(document, "");
        }
        let _ = write!(document, "</{name}>");
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The first child of this name.
    pub(crate) fn child(&self, name: &str) -> Option<&Element> {
        self.all(name).next()
    }

    /// All children of this name.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The members of a list, if there is one of this name.
    pub(crate) fn members(&self, name: &str) -> impl Iterator<Item = &Element> {
        self.child(name).into_iter().flat_map(|list| list.all("member"))
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text of the first child of this name.
    pub(crate) fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(Element::text)
    }

    /// The text of the first child of this name, or an empty one.
    pub(crate) fn owned_text_of(&self, name: &str) -> String {
        self.text_of(name).unwrap_or_default().to_owned()
    }
}

fn name(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Puts a finished element into the one around it, or returns it if it is the root.
fn closed(element: Element, open: &mut [Element]) -> Option<Element> {
    match open.last_mut() {
        Some(parent) => {
            parent.children.push(element);
            None
        }
        None => Some(element),
    }
}

/// Text outside of the root is white space.
fn append(text: &str, open: &mut [Element]) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

fn resolved(reference: &BytesRef<'_>) -> Result<char, String> {
    if let Some(character) = reference.resolve_char_ref().map_err(|error| error.to_string())? {
        return Ok(character);
    }
    let name = reference.decode().map_err(|error| error.to_string())?;
    match &*name {
        "amp" => Ok('&'),
        "apos" => Ok('\''),
        "gt" => Ok('>'),
        "lt" => Ok('<'),
        "quot" => Ok('"'),
        _ => Err("an entity that is not declared".to_owned()),
    }
}

/// Readers change line ends that are not escaped, and keys of objects may hold any character.
fn escape(text: &str, document: &mut String) {
    for character in text.chars() {
        match character {
            '&' => document.push_str("&amp;"),
            '<' => document.push_str("&lt;"),
            '>' => document.push_str("&gt;"),
            '"' => document.push_str("&quot;"),
            '\u{2028}' => document.push_str("&#x2028;"),
            control if control.is_control() => {
                let _ = write!(document, "&#x{:X};", u32::from(control));
            }
            other => document.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_document_is_read_as_a_tree() {
        let document =
            b"<?xml version=\"1.0\"?>\n<!-- c --><a:R xmlns:a=\"u\" x=\"1\">\n <L><member>1</member>\
            <member> 2 </member></L><E/><T>x &lt;&#38;&#x26;&gt; &quot;y&apos;<![CDATA[<z>]]></T></a:R>\n";
        let root = Element::parse(document).unwrap();
        assert_eq!(root.name(), "R");
        assert_eq!(root.members("L").map(Element::text).collect::<Vec<_>>(), ["1", " 2 "]);
        assert_eq!(root.text_of("T"), Some("x <&&> \"y'<z>"));
        assert_eq!((root.text_of("E"), root.text_of("none")), (Some(""), None));
        assert_eq!(root.members("none").count(), 0);
    }

    #[test]
    fn malformed_documents_are_refused() {
        let deep = "<a>".repeat(100_000);
        let bomb = "<!DOCTYPE a [<!ENTITY b \"bbbb\">]><a>&b;</a>";
        for text in [
            "",
            " ",
            "text",
            "<a>",
            "<a><b></a>",
            "</a>",
            "<a>&b;</a>",
            "<a>&#0;</a>",
            "<a>&</a>",
            "<a",
            bomb,
            &deep,
        ] {
            assert!(Element::parse(text.as_bytes()).is_err(), "{}", text.get(..20).unwrap_or(text));
        }
        assert!(Element::parse(b"<a>\xff</a>").is_err());
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
        assert!(Element::parse(nested(DEPTH_MAX).as_bytes()).is_ok());
        assert!(Element::parse(nested(DEPTH_MAX + 1).as_bytes()).is_err());
    }

    #[test]
    fn a_document_is_written_with_its_namespace() {
        let document = Element::new("Tagging")
            .with(Element::new("TagSet").with(Element::new("Tag").with_text("Key", "a<\r\n&\"b")))
            .to_document("urn:x");
        assert_eq!(
            document,
            "<Tagging xmlns=\"urn:x\"><TagSet><Tag><Key>a&lt;&#xD;&#xA;&amp;&quot;b</Key></Tag></TagSet></Tagging>"
        );
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes: Vec<u8>) {
            let _ = Element::parse(&bytes);
        }

        #[test]
        fn no_markup_makes_the_reader_panic(text in "[<>/&;#x!\\[\\]a-c\" =?-]{0,60}") {
            let _ = Element::parse(text.as_bytes());
        }

        #[test]
        fn texts_are_read_back(text in "[\\PC\r\n\t]{0,40}") {
            let document = Element::new("a").with_text("b", &text).to_document("urn:x");
            let read = Element::parse(document.as_bytes()).unwrap();
            prop_assert_eq!(read.text_of("b"), Some(text.as_str()));
        }
    }
}
