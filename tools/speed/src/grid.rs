//! A table of texts: aligned for a terminal, or as Markdown.

/// Rows of as many cells as there are titles. All but the first columns stand on the right.
pub(crate) struct Grid {
    titles: Vec<String>,
    rows: Vec<Vec<String>>,
    left: usize,
}

impl Grid {
    /// With so many columns of words.
    pub(crate) fn new<T: Into<String>>(titles: impl IntoIterator<Item = T>, left: usize) -> Self {
        Grid { titles: titles.into_iter().map(Into::into).collect(), rows: Vec::new(), left }
    }

    pub(crate) fn add(&mut self, row: Vec<String>) {
        assert_eq!(row.len(), self.titles.len(), "each column has a cell");
        self.rows.push(row);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn text(&self) -> String {
        let widths = self.widths();
        let all = std::iter::once(&self.titles).chain(&self.rows);
        let lines = all.map(|row| self.aligned(row, &widths).join("  ").trim_end().to_owned() + "\n");
        lines.collect()
    }

    pub(crate) fn markdown(&self) -> String {
        let rule = (0..self.titles.len()).map(|it| if it < self.left { "---" } else { "---:" });
        let rule = rule.map(str::to_owned).collect();
        let all = [&self.titles, &rule].into_iter().chain(&self.rows);
        all.map(|row| format!("| {} |\n", row.join(" | "))).collect()
    }

    fn widths(&self) -> Vec<usize> {
        let all: Vec<&Vec<String>> = std::iter::once(&self.titles).chain(&self.rows).collect();
        let width = |it: usize| all.iter().map(|row| row[it].chars().count()).max().unwrap_or(0);
        (0..self.titles.len()).map(width).collect()
    }

    fn aligned(&self, row: &[String], widths: &[usize]) -> Vec<String> {
        let cells = row.iter().zip(widths).enumerate();
        let aligned = cells.map(|(it, (cell, width))| match it {
            left if left < self.left => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        aligned.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_left_and_figures_right() {
        let mut grid = Grid::new(["what", "n"], 1);
        grid.add(vec!["a".into(), "1,000".into()]);
        assert_eq!(grid.text(), "what      n\na     1,000\n");
        assert_eq!(grid.markdown(), "| what | n |\n| --- | ---: |\n| a | 1,000 |\n");
    }
}
