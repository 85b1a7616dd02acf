//! Expressions of a wanted type, made of the names that are known at their place.

use super::random::Random;

/// What an expression is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Number,
    Text,
    Bool,
    Texts,
    Numbers,
    TextMap,
    NumberMap,
    /// `{ a = number, b = string, c = list(string) }`.
    Object,
    Objects,
}

pub(crate) const KINDS: [Kind; 9] = [
    Kind::Number,
    Kind::Text,
    Kind::Bool,
    Kind::Texts,
    Kind::Numbers,
    Kind::TextMap,
    Kind::NumberMap,
    Kind::Object,
    Kind::Objects,
];

impl Kind {
    /// As a variable declares it.
    pub(crate) fn constraint(self, random: &mut Random) -> &'static str {
        let exact = match self {
            Kind::Number => "number",
            Kind::Text => "string",
            Kind::Bool => "bool",
            Kind::Texts => "list(string)",
            Kind::Numbers => "list(number)",
            Kind::TextMap => "map(string)",
            Kind::NumberMap => "map(number)",
            Kind::Object => {
                "object({ a = optional(number, 5), b = string, c = optional(list(string), [\"d\"]), d = optional(bool) })"
            }
            Kind::Objects => "list(object({ a = number, b = string, c = list(string) }))",
        };
        if random.percent(20) { "any" } else { exact }
    }
}

/// A name, or anything else short that has a value.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) text: String,
    pub(crate) kind: Kind,
    /// Whether a plan knows its value.
    pub(crate) at_plan: bool,
}

/// Writes expressions.
pub(crate) struct Writer<'a> {
    pub(crate) random: &'a mut Random,
    pub(crate) names: Vec<Known>,
    /// Whether only what a plan knows may be used.
    pub(crate) at_plan: bool,
    /// How many of a hundred expressions are of the further forms below.
    pub(crate) further: usize,
    bound: usize,
}

const WORDS: [&str; 8] = ["a", "b", "web", "db", "Hello World", "x-y_z", " pad ", "é"];
const KEYS: [&str; 5] = ["a", "b", "c", "web", "key-1"];

impl<'a> Writer<'a> {
    pub(crate) fn new(random: &'a mut Random, names: Vec<Known>) -> Self {
        Writer { random, names, at_plan: false, further: 0, bound: 0 }
    }

    /// An expression of a kind; now and then one of another.
    pub(crate) fn expression(&mut self, kind: Kind, depth: usize) -> String {
        let kind = if self.random.percent(3) { *self.random.one_of(&KINDS) } else { kind };
        if depth == 0 || self.random.percent(15) {
            return self.leaf(kind);
        }
        if self.random.percent(10) {
            let (condition, then, otherwise) =
                (self.boolean(depth), self.at(kind, depth), self.at(kind, depth));
            return format!("({condition} ? {then} : {otherwise})");
        }
        if self.further > 0 && self.random.percent(self.further) {
            return self.further(kind, depth);
        }
        match kind {
            Kind::Number => self.number(depth),
            Kind::Text => self.text(depth),
            Kind::Bool => self.bool_of(depth),
            Kind::Texts => self.texts(depth),
            Kind::Numbers => self.numbers(depth),
            Kind::TextMap => self.map(Kind::Text, depth),
            Kind::NumberMap => self.map(Kind::Number, depth),
            Kind::Object => self.object(depth),
            Kind::Objects => self.objects(depth),
        }
    }

    fn at(&mut self, kind: Kind, depth: usize) -> String {
        self.expression(kind, depth - 1)
    }

    fn boolean(&mut self, depth: usize) -> String {
        self.at(Kind::Bool, depth)
    }

    fn leaf(&mut self, kind: Kind) -> String {
        let at_plan = self.at_plan;
        let usable: Vec<&Known> =
            self.names.iter().filter(|name| name.kind == kind && (name.at_plan || !at_plan)).collect();
        if !usable.is_empty() && self.random.percent(75) {
            return self.random.one_of(&usable).text.clone();
        }
        match kind {
            Kind::Number => (*self.random.one_of(&["0", "1", "2", "3", "7", "-1", "10", "1.5"])).to_owned(),
            Kind::Text => format!("{:?}", self.random.one_of(&WORDS)),
            Kind::Bool => (*self.random.one_of(&["true", "false"])).to_owned(),
            Kind::Texts => {
                (*self.random.one_of(&["[\"x\", \"y\"]", "[]", "[\"b\", \"a\", \"b\"]"])).to_owned()
            }
            Kind::Numbers => (*self.random.one_of(&["[1, 2, 3]", "[]", "[4]"])).to_owned(),
            Kind::TextMap => {
                (*self.random.one_of(&["{ a = \"1\", b = \"2\" }", "{}", "{ web = \"w\" }"])).to_owned()
            }
            Kind::NumberMap => (*self.random.one_of(&["{ a = 1, b = 2 }", "{ c = 3 }"])).to_owned(),
            Kind::Object => "{ a = 1, b = \"o\", c = [\"p\", \"q\"] }".to_owned(),
            Kind::Objects => "[{ a = 1, b = \"o\", c = [\"p\"] }, { a = 2, b = \"r\", c = [] }]".to_owned(),
        }
    }

    /// Something that binds a name of a kind, and what is made of it.
    fn bound(&mut self, kind: Kind, then: impl FnOnce(&mut Self, &str) -> String) -> (String, String) {
        self.bound += 1;
        let name = format!("v{}", self.bound);
        let known = self.names.len();
        self.names.push(Known { text: name.clone(), kind, at_plan: true });
        let made = then(self, &name);
        self.names.truncate(known);
        (name, made)
    }

    fn number(&mut self, depth: usize) -> String {
        let [a, b] = [self.at(Kind::Number, depth), self.at(Kind::Number, depth)];
        match self.random.below(13) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - {b})"),
            2 => format!("({a} * {b})"),
            // By zero it is a mistake for us, and the left side for Terraform.
            3 => format!("({a} % max(1, {b}))"),
            4 => format!("max({a}, {b}, 1)"),
            5 => format!("min({a}, {b})"),
            6 => format!("length({})", self.at(Kind::Texts, depth)),
            7 => format!("length({})", self.at(Kind::TextMap, depth)),
            8 => format!("sum(concat([0], {}))", self.at(Kind::Numbers, depth)),
            9 => format!("{}[{a}]", self.at(Kind::Numbers, depth)),
            10 => format!("{}.a", self.at(Kind::Object, depth)),
            11 => format!("lookup({}, {}, {a})", self.at(Kind::NumberMap, depth), self.at(Kind::Text, depth)),
            _ => format!("floor({a} / 2)"),
        }
    }

    fn text(&mut self, depth: usize) -> String {
        let a = self.at(Kind::Text, depth);
        match self.random.below(15) {
            0 => format!("\"${{{a}}}-${{{}}}\"", self.at(Kind::Number, depth)),
            1 => format!("upper({a})"),
            2 => format!("join(\",\", {})", self.at(Kind::Texts, depth)),
            3 => format!("format(\"%s=%d\", {a}, floor({}))", self.at(Kind::Number, depth)),
            4 => format!("jsonencode({})", self.any(depth)),
            5 => format!("tostring({})", self.at(Kind::Number, depth)),
            6 => format!("{}[{}]", self.at(Kind::Texts, depth), self.at(Kind::Number, depth)),
            7 => format!("{}.b", self.at(Kind::Object, depth)),
            8 => format!("replace({a}, \"a\", {})", self.at(Kind::Text, depth)),
            9 => format!("substr({a}, 0, {})", self.at(Kind::Number, depth)),
            10 => {
                let (collection, condition) = (self.at(Kind::Texts, depth), self.boolean(depth));
                let (name, body) = self.bound(Kind::Text, |writer, _| writer.at(Kind::Text, depth));
                format!(
                    "\"%{{ for {name} in {collection} }}<${{{body}}}>%{{ endfor }}%{{ if {condition} }}yes%{{ else }}no%{{ endif }}\""
                )
            }
            // Terraform panics at some negative ones.
            11 => {
                format!("element({}, max(0, {}))", self.at(Kind::Texts, depth), self.at(Kind::Number, depth))
            }
            12 => format!("coalesce(null, {a}, \"z\")"),
            13 => format!("lookup({}, {a}, \"none\")", self.at(Kind::TextMap, depth)),
            _ => format!("one([{a}])"),
        }
    }

    fn bool_of(&mut self, depth: usize) -> String {
        match self.random.below(9) {
            0 => format!("({} < {})", self.at(Kind::Number, depth), self.at(Kind::Number, depth)),
            1 => format!("({} == {})", self.any(depth), self.any(depth)),
            2 => format!("({} != {})", self.at(Kind::Text, depth), self.at(Kind::Text, depth)),
            3 => format!("contains({}, {})", self.at(Kind::Texts, depth), self.at(Kind::Text, depth)),
            // What is wrong on the right does not matter to us once the left decides; to Terraform it does.
            4 => format!("({} && try(tobool({}), true))", self.boolean(depth), self.boolean(depth)),
            5 => format!("({} || try(tobool({}), false))", self.boolean(depth), self.boolean(depth)),
            6 => format!("!{}", self.leaf(Kind::Bool)),
            7 => format!("can({})", self.any(depth)),
            _ => format!("alltrue([for n in {} : n > 0])", self.at(Kind::Numbers, depth)),
        }
    }

    fn any(&mut self, depth: usize) -> String {
        let kind = *self.random.one_of(&KINDS);
        self.at(kind, depth)
    }

    fn texts(&mut self, depth: usize) -> String {
        let a = self.at(Kind::Texts, depth);
        match self.random.below(14) {
            0 => format!("[{}, {}]", self.at(Kind::Text, depth), self.at(Kind::Text, depth)),
            1 => format!("keys({})", self.at(Kind::TextMap, depth)),
            2 => format!("split(\",\", {})", self.at(Kind::Text, depth)),
            3 => format!("sort({a})"),
            4 => format!("distinct({a})"),
            5 => format!("concat({a}, {})", self.at(Kind::Texts, depth)),
            6 => format!("reverse({a})"),
            7 => {
                let condition = self.boolean(depth);
                let (name, body) = self.bound(Kind::Text, |writer, _| writer.at(Kind::Text, depth));
                format!("[for {name} in {a} : {body} if {condition}]")
            }
            8 => format!("flatten([{a}, [{}]])", self.at(Kind::Texts, depth)),
            9 => format!("tolist(toset({a}))"),
            10 => format!("{}[*].b", self.at(Kind::Objects, depth)),
            11 => format!("values({})", self.at(Kind::TextMap, depth)),
            12 => {
                let collection = self.at(Kind::TextMap, depth);
                let (name, body) = self.bound(Kind::Text, |writer, name| {
                    let (key, body) = writer.bound(Kind::Text, |writer, _| writer.at(Kind::Text, depth));
                    format!("{key}, {name} in {collection} : {body}")
                });
                let _ = name;
                format!("[for {body}]")
            }
            _ => format!("{}.c", self.at(Kind::Object, depth)),
        }
    }

    fn numbers(&mut self, depth: usize) -> String {
        let a = self.at(Kind::Numbers, depth);
        match self.random.below(7) {
            0 => format!("[{}, {}]", self.at(Kind::Number, depth), self.at(Kind::Number, depth)),
            1 => format!("range(min(4, {}))", self.at(Kind::Number, depth)),
            2 => {
                let (name, body) = self.bound(Kind::Number, |writer, _| writer.at(Kind::Number, depth));
                format!("[for {name} in {a} : {body}]")
            }
            3 => format!("concat({a}, {})", self.at(Kind::Numbers, depth)),
            4 => format!("{}[*].a", self.at(Kind::Objects, depth)),
            5 => format!("values({})", self.at(Kind::NumberMap, depth)),
            _ => format!("slice({a}, 0, 1)"),
        }
    }

    fn map(&mut self, of: Kind, depth: usize) -> String {
        let (own, list) = match of {
            Kind::Number => (Kind::NumberMap, Kind::Numbers),
            _ => (Kind::TextMap, Kind::Texts),
        };
        match self.random.below(6) {
            0 => {
                let (key, value) = (*self.random.one_of(&KEYS), self.at(of, depth));
                format!("{{ {key} = {value}, (\"k${{1 + 1}}\") = {} }}", self.at(of, depth))
            }
            1 => format!("merge({}, {})", self.at(own, depth), self.at(own, depth)),
            2 => {
                let collection = self.at(list, depth);
                let (name, body) = self.bound(of, |writer, _| writer.at(of, depth));
                format!("{{ for i, {name} in {collection} : \"k${{i}}\" => {body} }}")
            }
            3 => {
                let (collection, value) = (self.at(Kind::Texts, depth), self.at(of, depth));
                format!("{{ for k in distinct({collection}) : k => {value} }}")
            }
            4 => format!("tomap({})", self.at(own, depth)),
            _ => format!("zipmap([\"a\", \"b\"], [{}, {}])", self.at(of, depth), self.at(of, depth)),
        }
    }

    fn object(&mut self, depth: usize) -> String {
        match self.random.below(4) {
            0 => {
                format!("merge({}, {{ a = {} }})", self.at(Kind::Object, depth), self.at(Kind::Number, depth))
            }
            1 => format!("{}[0]", self.at(Kind::Objects, depth)),
            _ => format!(
                "{{ a = {}, b = {}, c = {} }}",
                self.at(Kind::Number, depth),
                self.at(Kind::Text, depth),
                self.at(Kind::Texts, depth)
            ),
        }
    }

    fn objects(&mut self, depth: usize) -> String {
        match self.random.below(4) {
            0 => {
                let collection = self.at(Kind::Texts, depth);
                let (name, body) = self.bound(Kind::Text, |writer, _| writer.at(Kind::Object, depth));
                format!("[for {name} in {collection} : {body}]")
            }
            1 => {
                let collection = self.at(Kind::Objects, depth);
                let (name, condition) = self.bound(Kind::Object, |writer, _| writer.at(Kind::Bool, depth));
                format!("[for {name} in {collection} : {name} if {condition}]")
            }
            _ => format!("[{}, {}]", self.at(Kind::Object, depth), self.at(Kind::Object, depth)),
        }
    }

    /// Forms in which types, and what is known of the unknown, decide.
    fn further(&mut self, kind: Kind, depth: usize) -> String {
        match kind {
            Kind::Number => self.further_number(depth),
            Kind::Text => self.further_text(depth),
            Kind::Bool => self.further_bool(depth),
            Kind::Texts => self.further_texts(depth),
            _ => format!("coalesce({}, {})", self.at(kind, depth), self.at(kind, depth)),
        }
    }

    fn further_number(&mut self, depth: usize) -> String {
        let a = self.at(Kind::Texts, depth);
        match self.random.below(8) {
            0 => format!("length(sort({a}))"),
            1 => format!("length(chunklist({a}, 2))"),
            2 => format!("length(formatlist(\"%s!\", {a}))"),
            3 => format!("length(setproduct({a}, {}))", self.at(Kind::Texts, depth)),
            4 => format!("length(concat({a}, {}))", self.at(Kind::Texts, depth)),
            5 => format!("length(distinct({a}))"),
            6 => format!("length(toset({a}))"),
            _ => format!("index({a}, {})", self.at(Kind::Text, depth)),
        }
    }

    fn further_text(&mut self, depth: usize) -> String {
        let a = self.at(Kind::Text, depth);
        match self.random.below(9) {
            0 => format!("element({}, {})", self.at(Kind::Texts, depth), self.at(Kind::Number, depth)),
            1 => format!("lower(trimspace({a}))"),
            2 => format!("format(\"%s-%v\", {a}, {})", self.any(depth)),
            3 => format!("try({a}, {})", self.at(Kind::Text, depth)),
            4 => format!("coalesce({a}, {})", self.at(Kind::Text, depth)),
            5 => format!("sha1({a})"),
            6 => format!("trimprefix({a}, {})", self.at(Kind::Text, depth)),
            7 => format!("join(\"-\", reverse({}))", self.at(Kind::Texts, depth)),
            _ => format!("one({}[*].b)", self.at(Kind::Object, depth)),
        }
    }

    fn further_bool(&mut self, depth: usize) -> String {
        let text = self.at(Kind::Text, depth);
        match self.random.below(10) {
            0 => format!("(\"p-${{{text}}}\" != \"\")"),
            1 => format!("(\"p-${{{text}}}\" != null)"),
            2 => format!("startswith({text}, {})", self.at(Kind::Text, depth)),
            3 => format!("(tolist({}) == {})", self.at(Kind::Texts, depth), self.at(Kind::Texts, depth)),
            4 => format!("(tomap({}) == {})", self.at(Kind::TextMap, depth), self.at(Kind::TextMap, depth)),
            5 => format!("({} == null)", self.any(depth)),
            6 => format!("issensitive({})", self.any(depth)),
            7 => format!("(length({}) > 0)", self.at(Kind::Texts, depth)),
            8 => format!("anytrue([{}, {}])", self.boolean(depth), self.boolean(depth)),
            _ => format!("({} == {})", self.at(Kind::Texts, depth), self.at(Kind::Texts, depth)),
        }
    }

    fn further_texts(&mut self, depth: usize) -> String {
        let a = self.at(Kind::Texts, depth);
        match self.random.below(11) {
            0 => format!("tolist({a})"),
            1 => format!("toset({a})"),
            2 => format!("formatlist(\"%s!\", {a})"),
            3 => format!("coalescelist({a}, {})", self.at(Kind::Texts, depth)),
            4 => format!("compact({a})"),
            5 => format!("setunion({a}, {})", self.at(Kind::Texts, depth)),
            6 => format!("tolist(setintersection({a}, {}))", self.at(Kind::Texts, depth)),
            7 => format!("tolist(setsubtract({a}, {}))", self.at(Kind::Texts, depth)),
            8 => format!("matchkeys({a}, {a}, {})", self.at(Kind::Texts, depth)),
            9 => format!(
                "keys({{ for pair in setproduct({a}, [\"x\"]) : \"${{pair[0]}}-${{pair[1]}}\" => 1 }})"
            ),
            _ => format!("slice({a}, 0, 1)"),
        }
    }
}
