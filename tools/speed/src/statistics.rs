//! The few figures that measurements are summed up in.

/// The one in the middle, or the mean of the two there; nothing of nothing.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

/// How fast `y` grows with `x`: the `e` of the power `x^e` that fits best, by least squares of logarithms. It takes two
/// different points.
pub(crate) fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logarithms: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logarithms.len() as f64;
    let (sum_x, sum_y) = logarithms.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
    let (mean_x, mean_y) = (sum_x / count, sum_y / count);
    let covariance: f64 = logarithms.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = logarithms.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    (variance > 0.0).then(|| covariance / variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([]), None);
    }

    #[test]
    fn a_power_is_found_again() {
        let points = |power: f64| [1e3, 1e4, 1e5].map(|x: f64| (x, 7.0 * x.powf(power)));
        for power in [0.0, 1.0, 2.0] {
            let found = exponent(&points(power)).expect("three points make a line");
            assert!((found - power).abs() < 1e-9, "{found} is not {power}");
        }
        assert_eq!(exponent(&[(1e3, 1.0)]), None, "one point makes none");
    }
}
