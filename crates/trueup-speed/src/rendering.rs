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
    /// Processor time of each deploy in a terminal, and without.
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
        for under in [Under::Terminal, Under::Meter] {
            let mut life = Life::begin(tool, workload, None, folder)?;
            match life.run(Operation::Deploy, under)? {
                Some(Seen::Drawn(usage, drawn)) => {
                    rendering.terminal_cpu_s.push(usage.cpu_s);
                    rendering.drawn_bytes.push(drawn.len());
                    let text = String::from_utf8_lossy(&drawn);
                    rendering
                        .created_lines
                        .push(text.lines().filter(|line| line.contains("created")).count());
                }
                Some(Seen::Usage(usage)) => rendering.plain_cpu_s.push(usage.cpu_s),
                Some(Seen::Fsyncs(_)) | None => {}
            }
            life.end()?;
        }
    }
    Ok(rendering)
}
