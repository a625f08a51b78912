//! Markup that stored text cannot break out of: what is not written in this program is escaped.

use std::fmt::{self, Display, Write};

use crate::render::clean;

/// A document that is being written.
#[derive(Default)]
pub struct Markup(String);

impl Markup {
    /// Adds markup as it is. It must be written in this program, so it takes nothing that was stored.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Adds text.
    pub fn text(&mut self, text: impl Display) -> &mut Self {
        write!(Escaping(&mut self.0), "{text}").expect("a String takes any text");
        self
    }

    /// Opens an element.
    pub fn open(&mut self, name: &'static str, attributes: &[(&'static str, &dyn Display)]) -> &mut Self {
        self.begin(name, attributes).raw(">")
    }

    /// Closes an element.
    pub fn close(&mut self, name: &'static str) -> &mut Self {
        self.raw("</").raw(name).raw(">")
    }

    /// Adds an element of a drawing that has nothing in it.
    pub fn draw(&mut self, name: &'static str, attributes: &[(&'static str, &dyn Display)]) -> &mut Self {
        self.begin(name, attributes).raw("/>")
    }

    /// Adds an element with text in it.
    pub fn element(
        &mut self,
        name: &'static str,
        attributes: &[(&'static str, &dyn Display)],
        text: impl Display,
    ) -> &mut Self {
        self.open(name, attributes).text(text).close(name)
    }

    fn begin(&mut self, name: &'static str, attributes: &[(&'static str, &dyn Display)]) -> &mut Self {
        self.raw("<").raw(name);
        for (name, value) in attributes {
            self.raw(" ").raw(name).raw("=\"").text(value).raw("\"");
        }
        self
    }

    /// What was written.
    pub fn finish(self) -> String {
        self.0
    }
}

struct Escaping<'a>(&'a mut String);

impl Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in clean(text).chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c => self.0.push(c),
            }
        }
        Ok(())
    }
}

/// Checks that a document is well-formed: every element is closed in its turn, every attribute is quoted, and every
/// ampersand begins an entity.
#[cfg(test)]
pub fn check(document: &str) {
    let body = document.strip_prefix("<!doctype html>").expect("a document says what it is");
    let mut open: Vec<&str> = Vec::new();
    let mut rest = body;
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        assert!(!text.contains('>') || open.last() == Some(&"style"), "a stray > in {text:?}");
        for entity in text.split('&').skip(1) {
            assert!(entity.contains(';'), "a stray & before {entity:?}");
        }
        let end = tag.find('>').unwrap_or_else(|| panic!("{tag:?} does not end"));
        let inside = &tag[1..end];
        rest = &tag[end + 1..];
        assert_eq!(inside.matches('"').count() % 2, 0, "<{inside}> is not quoted");
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> closes another");
            continue;
        }
        let name = inside.split([' ', '/']).next().unwrap();
        if !inside.ends_with('/') && !["meta"].contains(&name) {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<&str>::new(), "what is open is closed");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text_wherever_it_is() {
        let mut markup = Markup::default();
        markup.element("p", &[("title", &"\"><script>")], "a < b & c > 'd'\u{1b}[2J");
        assert_eq!(
            markup.finish(),
            "<p title=\"&quot;&gt;&lt;script&gt;\">a &lt; b &amp; c &gt; &#39;d&#39; [2J</p>"
        );
    }

    #[test]
    #[should_panic(expected = "closes another")]
    fn what_is_not_well_formed_is_found() {
        check("<!doctype html><p><b></p></b>");
    }
}
