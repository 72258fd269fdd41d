//! Myers' linear-space search for a shortest edit script, bounded in cost.

use crate::diff::Run;

/// Edits that one search may try before it takes the best point that it has reached. Without a bound two texts that
/// have their lines in common but in no common order would cost the square of their length.
const EDITS_MAX: usize = 128;

/// The equal lines of the chosen places of two sequences, in order; none if that takes more than `few` edits in each
/// half of the first search.
pub(crate) fn runs(sides: [&[u32]; 2], kept: [&[usize]; 2], few: usize) -> Option<Vec<Run>> {
    let chosen = |side: usize| kept[side].iter().map(|&at| sides[side][at]).collect::<Vec<u32>>();
    let (left, right) = (chosen(0), chosen(1));
    let mut search = Search { left: &left, right: &right, forward: Vec::new(), backward: Vec::new(), few };
    let mut runs = Vec::new();
    search.all(|x, y| runs.push(Run { old: kept[0][x], new: kept[1][y], length: 1 })).then_some(runs)
}

/// A rectangle of the edit graph.
#[derive(Clone, Copy)]
struct Area {
    x: (usize, usize),
    y: (usize, usize),
}

enum Work {
    Equal(usize, usize, usize),
    Area(Area),
}

struct Search<'s> {
    left: &'s [u32],
    right: &'s [u32],
    forward: Vec<usize>,
    backward: Vec<usize>,
    /// Edits that the first search may try.
    few: usize,
}

impl Search<'_> {
    /// Calls `found` with every pair of equal lines, in order; false if the first search tried too many edits.
    fn all(&mut self, mut found: impl FnMut(usize, usize)) -> bool {
        let mut work = vec![Work::Area(Area { x: (0, self.left.len()), y: (0, self.right.len()) })];
        while let Some(next) = work.pop() {
            match next {
                Work::Equal(x, y, length) => (0..length).for_each(|step| found(x + step, y + step)),
                Work::Area(area) => {
                    if !self.area(area, &mut work) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Cuts an area in two at a point of its path.
    fn area(&mut self, area: Area, work: &mut Vec<Work>) -> bool {
        let Area { x: (mut x, mut x_end), y: (mut y, mut y_end) } = area;
        let head = self.equal_ahead(x, x_end, y, y_end);
        let start = (x, y);
        (x, y) = (x + head, y + head);
        let tail = self.equal_behind(x, x_end, y, y_end);
        (x_end, y_end) = (x_end - tail, y_end - tail);
        work.push(Work::Equal(x_end, y_end, tail));
        if x < x_end && y < y_end {
            let inner = Area { x: (x, x_end), y: (y, y_end) };
            let Some((middle_x, middle_y)) = self.middle(inner) else { return false };
            self.few = usize::MAX;
            work.push(Work::Area(Area { x: (middle_x, x_end), y: (middle_y, y_end) }));
            work.push(Work::Area(Area { x: (x, middle_x), y: (y, middle_y) }));
        }
        work.push(Work::Equal(start.0, start.1, head));
        true
    }

    fn equal_ahead(&self, x: usize, x_end: usize, y: usize, y_end: usize) -> usize {
        self.left[x..x_end].iter().zip(&self.right[y..y_end]).take_while(|(a, b)| a == b).count()
    }

    fn equal_behind(&self, x: usize, x_end: usize, y: usize, y_end: usize) -> usize {
        let pairs = self.left[x..x_end].iter().rev().zip(self.right[y..y_end].iter().rev());
        pairs.take_while(|(a, b)| a == b).count()
    }

    /// A point inside the area that a shortest path goes through, or the farthest point within the bound; none if the
    /// few edits of the first search do not do. The area begins and ends with different lines, so that the point is
    /// neither of its corners.
    fn middle(&mut self, area: Area) -> Option<(usize, usize)> {
        let size = (area.x.1 - area.x.0, area.y.1 - area.y.0);
        let limit = (size.0 + size.1).div_ceil(2).min(EDITS_MAX).min(self.few);
        let reach = Reach { size, offset: limit + 1 };
        for search in [&mut self.forward, &mut self.backward] {
            search.clear();
            search.resize(2 * reach.offset + 1, NOWHERE);
        }
        let odd = (size.0 + size.1) % 2 == 1;
        for edits in 0..=limit {
            for diagonal in reach.diagonals(edits) {
                let x = reach.step(&self.forward, diagonal, edits);
                if x == NOWHERE {
                    self.forward[diagonal] = x;
                    continue;
                }
                let y = reach.y(x, diagonal);
                let x = x + self.equal_ahead(area.x.0 + x, area.x.1, area.y.0 + y, area.y.1);
                self.forward[diagonal] = x;
                if odd && reach.meets(&self.backward, diagonal, x) {
                    return Some((area.x.0 + x, area.y.0 + reach.y(x, diagonal)));
                }
            }
            for diagonal in reach.diagonals(edits) {
                let x = reach.step(&self.backward, diagonal, edits);
                if x == NOWHERE {
                    self.backward[diagonal] = x;
                    continue;
                }
                let y = reach.y(x, diagonal);
                let x = x + self.equal_behind(area.x.0, area.x.1 - x, area.y.0, area.y.1 - y);
                self.backward[diagonal] = x;
                if !odd && reach.meets(&self.forward, diagonal, x) {
                    return Some((area.x.1 - x, area.y.1 - reach.y(x, diagonal)));
                }
            }
        }
        let (x, y) = reach.farthest(&self.forward, limit);
        (self.few > EDITS_MAX).then_some((area.x.0 + x, area.y.0 + y))
    }
}

/// A diagonal that no path within the area has come to.
const NOWHERE: usize = usize::MAX;

/// How far paths came on each diagonal `x - y = k`, which stands at place `k + offset`. Both directions measure from
/// their own corner.
struct Reach {
    size: (usize, usize),
    offset: usize,
}

impl Reach {
    /// The places of the diagonals that paths of so many edits end on and that cross the area.
    fn diagonals(&self, edits: usize) -> impl Iterator<Item = usize> + use<> {
        let within = |length: usize| if edits <= length { edits } else { length - (edits - length) % 2 };
        (self.offset - within(self.size.1)..=self.offset + within(self.size.0)).step_by(2)
    }

    fn y(&self, x: usize, diagonal: usize) -> usize {
        x + self.offset - diagonal
    }

    /// Where one more edit leads on a diagonal: to the right from the one below, or down from the one above.
    fn step(&self, reached: &[usize], diagonal: usize, edits: usize) -> usize {
        if edits == 0 {
            return 0;
        }
        let (below, above) = (reached[diagonal - 1], reached[diagonal + 1]);
        let right = (below != NOWHERE && below < self.size.0).then(|| below + 1);
        let down = (above != NOWHERE && self.y(above, diagonal + 1) < self.size.1).then_some(above);
        right.max(down).unwrap_or(NOWHERE)
    }

    /// Whether the other search has come as far on the same diagonal.
    fn meets(&self, other: &[usize], diagonal: usize, x: usize) -> bool {
        // The other search counts from the far corner: its diagonal is width - height - k.
        let mirrored = (self.size.0 + 2 * self.offset).checked_sub(self.size.1 + diagonal);
        let reached = mirrored.and_then(|place| other.get(place)).copied();
        reached.is_some_and(|reached| reached != NOWHERE && x + reached >= self.size.0)
    }

    /// The farthest point of the paths of so many edits.
    fn farthest(&self, reached: &[usize], edits: usize) -> (usize, usize) {
        let points = self.diagonals(edits).filter(|&diagonal| reached[diagonal] != NOWHERE);
        let points = points.map(|diagonal| (reached[diagonal], self.y(reached[diagonal], diagonal)));
        points.max_by_key(|(x, y)| x + y).unwrap_or(self.size)
    }
}
