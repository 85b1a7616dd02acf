//! The tokens of a text: what they are, and how much room they take.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

/// A stretch of the text that is kept together, and the space before it.
#[derive(Clone, Debug)]
pub(super) struct Token<'s> {
    pub(super) kind: TokenKind,
    pub(super) text: Cow<'s, str>,
    /// Where it begins in the text; of a token that was put in, where what it replaces begins.
    pub(super) start: usize,
    /// How many spaces stand before it.
    pub(super) spaces: usize,
}

/// What a token is, as far as its layout depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TokenKind {
    /// A name or keyword.
    Name,
    /// A number.
    Number,
    /// Text within quotes or a heredoc, up to the next sequence.
    Text,
    /// The quote that begins a string.
    QuoteOpen,
    /// The quote that ends a string.
    QuoteClose,
    /// `<<EOT` with the line end after it.
    HeredocOpen,
    /// The last line of a heredoc, with the space in it and without its line end.
    HeredocClose,
    /// `${` or `${~`, `%{` or `%{~`.
    SequenceOpen,
    /// `}` or `~}`.
    SequenceClose,
    /// `{`.
    BraceOpen,
    /// `}`.
    BraceClose,
    /// `[`.
    BracketOpen,
    /// `]`.
    BracketClose,
    /// `(`.
    ParenthesisOpen,
    /// `)`.
    ParenthesisClose,
    /// `.`.
    Dot,
    /// `,`.
    Comma,
    /// `...`.
    Ellipsis,
    /// `:`.
    Colon,
    /// `::`.
    DoubleColon,
    /// `?`.
    Question,
    /// `=`.
    Assign,
    /// `-`, between operands or before one.
    Minus,
    /// `!`.
    Not,
    /// Any other operator between operands, and the `*` of a splat.
    Operator,
    /// `=>`.
    Arrow,
    /// A comment; one that ends with its line holds the line end.
    Comment,
    /// The end of a line.
    Newline,
    /// The end of the text.
    End,
    /// What is no part of the language.
    Other,
}

impl Token<'_> {
    /// Whether a line ends with it.
    pub(super) fn ends_line(&self) -> bool {
        match self.kind {
            TokenKind::Newline => true,
            TokenKind::Comment => self.text.ends_with('\n'),
            _ => false,
        }
    }

    /// How many characters, as people see them, it takes with the space before it.
    pub(super) fn columns(&self) -> usize {
        let own = if self.text.is_ascii() {
            // A line end is one character, however many bytes it has.
            self.text.len() - self.text.matches("\r\n").count()
        } else {
            self.text.graphemes(true).count()
        };
        self.spaces + own
    }
}

impl TokenKind {
    /// By how many levels the text after it is deeper in brackets.
    pub(super) fn depth_change(self) -> isize {
        match self {
            TokenKind::SequenceOpen
            | TokenKind::BraceOpen
            | TokenKind::BracketOpen
            | TokenKind::ParenthesisOpen => 1,
            TokenKind::SequenceClose
            | TokenKind::BraceClose
            | TokenKind::BracketClose
            | TokenKind::ParenthesisClose => -1,
            _ => 0,
        }
    }
}
