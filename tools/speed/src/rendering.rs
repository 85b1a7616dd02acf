//! What showing progress costs: the same deploy in a terminal and without one, in turns.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::life::{Life, Seen, Under};
use crate::operation::Operation;
use crate::statistics::median;
use crate::tool::Tool;
use crate::workload::{Shape, Workload};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Rendering {
    pub(crate) resources: usize,
    /// Processor time of deploys in a terminal, and without: each the least of some.
    pub(crate) terminal_cpu_s: Vec<f64>,
    pub(crate) plain_cpu_s: Vec<f64>,
    /// What was written to the terminal, each time.
    pub(crate) drawn_bytes: Vec<usize>,
    /// Of which lines that tell that something was created.
    pub(crate) created_lines: Vec<usize>,
}

impl Rendering {
    /// The share of processor time that a terminal adds.
    pub(crate) fn share(&self) -> Option<f64> {
        let terminal = median(self.terminal_cpu_s.iter().copied())?;
        Some((terminal - median(self.plain_cpu_s.iter().copied())?) / terminal)
    }
}

/// Of how many deploys the least counts: what else a machine does only adds to them, and often more than is looked for.
const TRIES: usize = 3;

pub(crate) fn measure(
    tool: &Tool,
    folder: &Path,
    resources: usize,
    repetitions: usize,
) -> Result<Rendering, Failure> {
    let workload = Workload { shape: Shape::Chains, resources };
    let mut rendering = Rendering {
        resources,
        terminal_cpu_s: vec![],
        plain_cpu_s: vec![],
        drawn_bytes: vec![],
        created_lines: vec![],
    };
    for _ in 0..repetitions {
        let (mut terminal_cpu_s, mut plain_cpu_s) = (f64::INFINITY, f64::INFINITY);
        for under in [Under::Terminal, Under::Meter].into_iter().cycle().take(2 * TRIES) {
            let mut life = Life::begin(tool, workload, None, folder)?;
            match life.run(Operation::Deploy, under)? {
                Some(Seen::Drawn(usage, drawn)) => {
                    terminal_cpu_s = terminal_cpu_s.min(usage.cpu_s);
                    rendering.drawn_bytes.push(drawn.len());
                    let text = String::from_utf8_lossy(&drawn);
                    rendering
                        .created_lines
                        .push(text.lines().filter(|line| line.contains("created")).count());
                }
                Some(Seen::Usage(usage)) => plain_cpu_s = plain_cpu_s.min(usage.cpu_s),
                Some(Seen::Fsyncs(_)) | None => {}
            }
            life.end()?;
        }
        rendering.terminal_cpu_s.push(terminal_cpu_s);
        rendering.plain_cpu_s.push(plain_cpu_s);
    }
    Ok(rendering)
}
