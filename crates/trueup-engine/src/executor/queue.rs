//! Who starts next: the longest remaining chain first, and no more at a time than the run, a provider or a class of
//! resources allows.
//!
//! What cannot start because of its provider or class waits behind that gate and comes back when a place there is free,
//! so that a long queue at one gate costs the others nothing. Objects that are nothing but records keep nobody busy but
//! the store, which writes many as fast as one: they have places of their own (APPLY-2).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use smol_str::SmolStr;
use trueup_program::Program;

use crate::call::Throttle;
use crate::draft::node::Node;
use crate::index::{PerTask, TaskIndex};

/// How many objects that are nothing but records are under way at a time: enough for one commit and the next.
const IN_RECORDS_MAX: usize = 256;

/// Tasks that wait to start, by their numbers.
pub(crate) struct Queue<'a> {
    throttle: &'a Throttle,
    parallelism: usize,
    passes: PerTask<Pass>,
    gates: Vec<Gate>,
    outside: Lane,
    in_records: Lane,
}

/// The length of what depends on a task, and its number: the greatest comes first.
type Rank = (u32, Reverse<TaskIndex>);

/// Tasks that have their places in common.
#[derive(Default)]
struct Lane {
    ready: BinaryHeap<Rank>,
    running: usize,
}

/// What a task takes a place of.
struct Pass {
    /// How long what depends on it is.
    remaining: u32,
    in_records: bool,
    provider: Option<usize>,
    class: Option<usize>,
}

impl Pass {
    fn gates(&self) -> impl Iterator<Item = usize> + use<> {
        self.provider.into_iter().chain(self.class)
    }
}

struct Gate {
    allowed: Allowed,
    running: usize,
    waiting: BinaryHeap<Rank>,
}

enum Allowed {
    /// As many as the provider bears now.
    Provider(SmolStr),
    /// As many as the program says.
    Class(usize),
}

impl<'a> Queue<'a> {
    /// An empty queue for tasks with these nodes and lengths of what depends on them.
    pub(crate) fn new<'n, 'p: 'n>(
        throttle: &'a Throttle,
        program: &Program,
        parallelism: usize,
        tasks: impl Iterator<Item = (&'n Node<'p>, u32)>,
    ) -> Self {
        let mut queue = Queue {
            throttle,
            parallelism: parallelism.max(1),
            passes: PerTask::default(),
            gates: Vec::new(),
            outside: Lane::default(),
            in_records: Lane::default(),
        };
        let mut classes: BTreeMap<&str, usize> = BTreeMap::new();
        for class in &program.parallelism {
            classes.insert(&class.name, queue.gate(Allowed::Class(class.limit.max(1))));
        }
        let mut providers: BTreeMap<SmolStr, usize> = BTreeMap::new();
        for (node, remaining) in tasks {
            // One at a time means one at a time.
            let in_records = node.is_in_records() && queue.parallelism > 1;
            let provider = (!in_records).then(|| {
                providers.get(&node.provider).copied().unwrap_or_else(|| {
                    let gate = queue.gate(Allowed::Provider(node.provider.clone()));
                    providers.insert(node.provider.clone(), gate);
                    gate
                })
            });
            let class = node.declared().and_then(|declared| declared.options.parallelism_class.as_ref());
            let class = class.and_then(|class| classes.get(class.as_str()).copied());
            queue.passes.push(Pass { remaining, in_records, provider, class });
        }
        queue
    }

    fn gate(&mut self, allowed: Allowed) -> usize {
        self.gates.push(Gate { allowed, running: 0, waiting: BinaryHeap::new() });
        self.gates.len() - 1
    }

    /// A task waits for nothing but a place.
    pub(crate) fn push(&mut self, task: TaskIndex) {
        let rank = (self.passes[task].remaining, Reverse(task));
        self.lane(task).ready.push(rank);
    }

    /// The task to start now, if one may.
    pub(crate) fn start(&mut self) -> Option<TaskIndex> {
        loop {
            let rank = (self.outside.next(self.parallelism))
                .or_else(|| self.in_records.next(IN_RECORDS_MAX.max(self.parallelism)))?;
            let (_, Reverse(task)) = rank;
            if let Some(closed) = self.passes[task].gates().find(|gate| self.places(*gate) == 0) {
                self.gates[closed].waiting.push(rank);
                continue;
            }
            for gate in self.passes[task].gates() {
                self.gates[gate].running += 1;
            }
            self.lane(task).running += 1;
            return Some(task);
        }
    }

    /// A task that was started has ended.
    pub(crate) fn ended(&mut self, task: TaskIndex) {
        self.lane(task).running -= 1;
        for gate in self.passes[task].gates() {
            self.gates[gate].running -= 1;
            for _ in 0..self.places(gate) {
                let Some((_, Reverse(released))) = self.gates[gate].waiting.pop() else { break };
                self.push(released);
            }
        }
    }

    fn places(&self, gate: usize) -> usize {
        let gate = &self.gates[gate];
        let allowed = match &gate.allowed {
            Allowed::Provider(name) => self.throttle.allowed(name),
            Allowed::Class(limit) => *limit,
        };
        allowed.saturating_sub(gate.running)
    }

    fn lane(&mut self, task: TaskIndex) -> &mut Lane {
        if self.passes[task].in_records { &mut self.in_records } else { &mut self.outside }
    }
}

impl Lane {
    fn next(&mut self, places: usize) -> Option<Rank> {
        if self.running < places { self.ready.pop() } else { None }
    }
}
