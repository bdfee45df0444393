// SPDX-License-Identifier: Apache-2.0
//! The content of /proc/softirqs: a header with the CPUs, then one row for each kind with its running total on each
//! CPU.

/// Returns `(kind, total over all CPUs)` for every row; rows in a different format are left out.
pub fn parse(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.lines().skip(1).filter_map(total_of_row)
}

// Example: "      NET_RX:     273892     271104".
fn total_of_row(row: &str) -> Option<(&str, u64)> {
    let (kind, counts) = row.split_once(':')?;
    let counts: Vec<u64> = counts.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    if counts.is_empty() {
        return None;
    }
    Some((kind.trim(), counts.into_iter().fold(0, u64::wrapping_add)))
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn rows(text: &str) -> Vec<(&str, u64)> {
        parse(text).collect()
    }

    #[test]
    fn a_kind_is_the_sum_over_its_cpus() {
        let text = "        CPU0       CPU1\n  NET_TX:          4          3\n  NET_RX:       9822      11575\n";
        assert_eq!(rows(text), [("NET_TX", 7), ("NET_RX", 21397)]);
    }

    #[test]
    fn the_head_is_no_kind() {
        assert_eq!(rows("        CPU0\n"), []);
    }

    #[test]
    fn an_empty_file_has_no_kinds() {
        assert_eq!(rows(""), []);
    }

    #[test]
    fn a_row_that_is_not_understood_is_left_out() {
        let text = "        CPU0\n  HI\n  TIMER:\n  BLOCK:  many\n  SCHED:  -1\n  RCU:  5\n";
        assert_eq!(rows(text), [("RCU", 5)]);
    }
}
