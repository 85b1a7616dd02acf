//! Programs made up from random bytes. Each byte is a choice; when they run out, the first choice is taken everywhere,
//! which ends the program soon. Fewer and smaller bytes make a simpler program, so failures shrink.

/// Writes programs in which nothing is laid out as it should be.
pub(crate) struct Author<'b> {
    choices: std::slice::Iter<'b, u8>,
    text: String,
    /// Whether the program holds what Terraform loses: comments between labels and in lone interpolations, an index
    /// that is a keyword.
    beyond_terraform: bool,
    heredocs: usize,
}

/// Whether a new line is space here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    One,
    Several,
}

/// How deeply expressions and blocks nest.
const DEPTH_MAX: usize = 4;

impl<'b> Author<'b> {
    pub(crate) fn program(choices: &'b [u8], beyond_terraform: bool) -> String {
        let mut author =
            Author { choices: choices.iter(), text: String::new(), beyond_terraform, heredocs: 0 };
        let items = author.choose(8);
        author.items(0, items);
        author.text
    }

    fn choose(&mut self, among: u8) -> u8 {
        self.choices.next().map_or(0, |choice| choice % among)
    }

    fn write(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn one_of(&mut self, texts: &[&str]) {
        let at = self.choose(u8::try_from(texts.len()).expect("few texts"));
        self.write(texts[usize::from(at)]);
    }

    /// Space that may be none.
    fn gap(&mut self, lines: Lines) {
        match lines {
            Lines::One => self.one_of(&["", " ", "", "   ", "\t", " /* é */ "]),
            Lines::Several => {
                self.one_of(&["", " ", "", "  ", "\n", "\n\n\t", " # c\n", " /* c */ ", "//\n"]);
            }
        }
    }

    /// Space that is some.
    fn space(&mut self, lines: Lines) {
        self.write(" ");
        self.gap(lines);
    }

    fn items(&mut self, depth: usize, count: u8) {
        for at in 0..count {
            self.one_of(&["", "\n", "  ", "\t", "# comment\n", "  // comment\n", "/* a\n b */\n", "\r\n"]);
            let kinds = if depth < DEPTH_MAX { 5 } else { 3 };
            match self.choose(kinds) {
                0..3 => self.attribute(at),
                3 => self.block(depth),
                _ => self.block_on_one_line(),
            }
            self.one_of(&["\n", " # comment\n", "\n\n", "  \n", "# é\n", "\r\n", " /* c */\n"]);
        }
    }

    fn attribute(&mut self, at: u8) {
        // Names are different within a body, and of different lengths.
        self.one_of(&["a", "name", "type", "é", "long_name-"]);
        self.write(&at.to_string());
        self.gap(Lines::One);
        self.write("=");
        self.gap(Lines::One);
        match self.choose(8) {
            0..4 => self.expression(0, Lines::One),
            4 => self.lone_interpolation(),
            5 => self.heredoc(),
            _ => self.expression(2, Lines::One),
        }
    }

    fn block(&mut self, depth: usize) {
        self.one_of(&["block", "variable", "locals"]);
        for _ in 0..self.choose(3) {
            if self.beyond_terraform {
                self.space(Lines::One);
            } else {
                self.write("  ");
            }
            self.one_of(&["label", "\"label\"", "\"a b\"", "\"\\u00e9\\\"\"", "\"\""]);
        }
        self.gap(Lines::One);
        self.write("{");
        self.one_of(&["\n", " # comment\n", "  \n\n"]);
        if self.choose(4) == 3 {
            self.write("type=");
            self.one_of(&["\"string\"", "list", "\"map\"", "set", "any", "list(string)"]);
            self.write("\n");
        }
        let items = self.choose(4);
        self.items(depth + 1, items);
        self.gap(Lines::One);
        self.write("}");
    }

    fn block_on_one_line(&mut self) {
        self.one_of(&["block{}", "block  { }", "block {a=1}", "b \"c\"{ a = [1,2] }", "b{a=\"${c}\"}"]);
    }

    fn lone_interpolation(&mut self) {
        self.write("\"${");
        let lines = if self.beyond_terraform { Lines::Several } else { Lines::One };
        self.gap(lines);
        self.expression(2, lines);
        self.gap(lines);
        self.write("}\"");
    }

    fn heredoc(&mut self) {
        self.heredocs += 1;
        let marker = format!("EOT{}", self.heredocs);
        self.one_of(&["<<", "<<-"]);
        self.write(&marker);
        self.write("\n");
        for _ in 0..self.choose(4) {
            self.one_of(&["", "  ", "\t", "x = ", "# ", "$${ ", "%% "]);
            if self.choose(3) == 1 {
                self.sequence(2, Lines::Several);
            }
            self.one_of(&["text", "", "  ", "\" \\", "}"]);
            self.write("\n");
        }
        self.one_of(&["", "  ", "\t"]);
        self.write(&marker);
    }

    fn expression(&mut self, depth: usize, lines: Lines) {
        let kinds = if depth < DEPTH_MAX { 17 } else { 4 };
        match self.choose(kinds) {
            0 => self.one_of(&["a", "var.x", "true", "null", "each", "in", "x-y", "é"]),
            1 => self.one_of(&["1", "0.5", "10e3", "1E-2"]),
            2 => self.one_of(&["\"\"", "\"a\"", "\" = # \"", "\"$${ \\\" %%{\"", "\"é🇬🇧\""]),
            3 => self.access(),
            4 => self.template(depth),
            5 => self.list(depth),
            6 => self.object(depth),
            7 => self.call(depth),
            8 => self.binary(depth, lines),
            9 => {
                self.one_of(&["-", "!", "- ", "! "]);
                self.expression(depth + 1, lines);
            }
            10 => self.conditional(depth, lines),
            11 => self.enclosed("(", depth, ")"),
            12 => {
                self.access();
                self.gap(lines);
                self.index(depth);
            }
            13 => self.for_list(depth),
            14 => self.for_object(depth),
            15 if lines == Lines::Several => {
                self.heredoc();
                self.write("\n");
            }
            _ => self.one_of(&["a.b[*].c", "a . * . b", "a[ * ]", "f(x)[0].y", "[1] [0]", "p::q::f( x )"]),
        }
    }

    fn enclosed(&mut self, open: &str, depth: usize, close: &str) {
        self.write(open);
        self.gap(Lines::Several);
        self.expression(depth + 1, Lines::Several);
        self.gap(Lines::Several);
        self.write(close);
    }

    fn index(&mut self, depth: usize) {
        self.write("[");
        self.gap(Lines::Several);
        let start = self.text.len();
        self.expression(depth + 1, Lines::Several);
        if !self.beyond_terraform && matches!(&self.text[start..], "true" | "null") {
            self.text.truncate(start);
            self.write("a");
        }
        self.gap(Lines::Several);
        self.write("]");
    }

    fn access(&mut self) {
        self.one_of(&["var", "local", "data"]);
        for _ in 0..=self.choose(3) {
            self.gap(Lines::One);
            self.write(".");
            self.gap(Lines::One);
            self.one_of(&["name", "in", "for-x", "0"]);
        }
    }

    /// Never a lone interpolation, of which Terraform takes off one layer each time.
    fn template(&mut self, depth: usize) {
        self.write("\"");
        self.one_of(&["x", " ", "${a}", "$${", "= {"]);
        for _ in 0..self.choose(3) {
            self.sequence(depth + 1, Lines::Several);
            self.one_of(&["", "text", "  ", "}", "# "]);
        }
        self.write("y\"");
    }

    fn sequence(&mut self, depth: usize, lines: Lines) {
        let directive = self.choose(4) == 3;
        if directive {
            self.one_of(&["%{ if ", "%{~ if  ", "%{for x in ", "%{ for k , v in "]);
            let end = if self.text.ends_with("in ") { "%{ endfor }" } else { "%{else}z%{ endif ~}" };
            self.expression(depth + 1, lines);
            self.gap(lines);
            self.one_of(&["}", "~}", "} x "]);
            self.write(end);
        } else {
            self.one_of(&["${", "${~"]);
            self.gap(lines);
            self.expression(depth + 1, lines);
            self.gap(lines);
            self.one_of(&["}", "~}"]);
        }
    }

    fn list(&mut self, depth: usize) {
        self.write("[");
        for _ in 0..self.choose(4) {
            self.gap(Lines::Several);
            self.expression(depth + 1, Lines::Several);
            self.gap(Lines::Several);
            self.write(",");
        }
        self.gap(Lines::Several);
        self.write("]");
    }

    fn object(&mut self, depth: usize) {
        self.write("{");
        self.gap(Lines::Several);
        for _ in 0..self.choose(4) {
            self.one_of(&["a", "\"b c\"", "(var.x)", "long_name", "\"${x}-y\"", "1"]);
            self.gap(Lines::One);
            self.one_of(&["=", ":", " = "]);
            self.gap(Lines::One);
            self.expression(depth + 1, Lines::One);
            self.one_of(&[",", "\n", " , ", " # c\n", ",\n", ", # c\n"]);
            self.gap(Lines::Several);
        }
        self.write("}");
    }

    fn call(&mut self, depth: usize) {
        self.one_of(&["f", "f ", "provider :: x::f"]);
        self.write("(");
        let arguments = self.choose(4);
        for at in 0..arguments {
            self.gap(Lines::Several);
            self.expression(depth + 1, Lines::Several);
            self.gap(Lines::Several);
            if at + 1 < arguments { self.write(",") } else { self.one_of(&["", ",", " ... "]) }
        }
        self.write(")");
    }

    fn binary(&mut self, depth: usize, lines: Lines) {
        self.expression(depth + 1, lines);
        self.space(lines);
        self.one_of(&["+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||"]);
        self.space(lines);
        self.expression(depth + 1, lines);
    }

    fn conditional(&mut self, depth: usize, lines: Lines) {
        self.expression(depth + 1, lines);
        self.space(lines);
        self.write("?");
        self.gap(lines);
        self.expression(depth + 1, lines);
        self.space(lines);
        self.write(":");
        self.space(lines);
        self.expression(depth + 1, lines);
    }

    fn for_list(&mut self, depth: usize) {
        self.write("[");
        self.gap(Lines::Several);
        self.one_of(&["for x in ", "for k,v in ", "for k , v  in  "]);
        self.expression(depth + 1, Lines::Several);
        self.space(Lines::Several);
        self.write(":");
        self.space(Lines::Several);
        self.expression(depth + 1, Lines::Several);
        if self.choose(3) == 1 {
            self.write(" if ");
            self.expression(depth + 1, Lines::Several);
        }
        self.gap(Lines::Several);
        self.write("]");
    }

    fn for_object(&mut self, depth: usize) {
        self.write("{");
        self.gap(Lines::One);
        self.one_of(&["for x in ", "for k,v in "]);
        self.expression(depth + 1, Lines::Several);
        self.space(Lines::Several);
        self.write(":");
        self.space(Lines::Several);
        self.expression(depth + 1, Lines::Several);
        self.one_of(&["=>", " => ", "\n=>\n"]);
        self.expression(depth + 1, Lines::Several);
        self.one_of(&["", " ", "...", "\n", " if x"]);
        self.write("}");
    }
}
