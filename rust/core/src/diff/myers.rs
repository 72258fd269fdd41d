//! Myers' linear-space algorithm for a shortest edit script (1986), with bounded cost.

use crate::diff::EqualRun;

/// Edits that one search tries before it settles for the farthest point reached.
///
/// Without a bound two texts with the same lines in different orders would cost the square of their length.
const EDITS_MAX: usize = 128;

/// Return the equal lines among the selected positions of two sequences, in order.
///
/// None if the first search needs more than `edits_max` edits in each direction.
pub(crate) fn equal_runs(sides: [&[u32]; 2], positions: [&[usize]; 2], edits_max: usize) -> Option<Vec<EqualRun>> {
    let selected = |side: usize| positions[side].iter().map(|&at| sides[side][at]).collect::<Vec<u32>>();
    let (left, right) = (selected(0), selected(1));
    let mut search = Search { left: &left, right: &right, forward: Vec::new(), backward: Vec::new(), edits_max };
    let mut runs = Vec::new();
    search.run(|x, y| runs.push(EqualRun { old: positions[0][x], new: positions[1][y], length: 1 })).then_some(runs)
}

/// A rectangle of the edit graph: old lines on the x axis, new lines on the y axis.
#[derive(Clone, Copy)]
struct Area {
    x: (usize, usize),
    y: (usize, usize),
}

/// Emit equal lines, or search an area.
enum Task {
    Equal(usize, usize, usize),
    Area(Area),
}

/// A running search, with the reached x of every diagonal in both directions.
struct Search<'s> {
    left: &'s [u32],
    right: &'s [u32],
    forward: Vec<usize>,
    backward: Vec<usize>,
    /// Edits that the first search may try.
    edits_max: usize,
}

impl Search<'_> {
    /// Call `emit` with every pair of equal lines, in order; return false if the first search needs too many edits.
    fn run(&mut self, mut emit: impl FnMut(usize, usize)) -> bool {
        let mut tasks = vec![Task::Area(Area { x: (0, self.left.len()), y: (0, self.right.len()) })];
        while let Some(next) = tasks.pop() {
            match next {
                Task::Equal(x, y, length) => (0..length).for_each(|step| emit(x + step, y + step)),
                Task::Area(area) => {
                    if !self.divide(area, &mut tasks) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Strip common prefix and suffix of an area and divide it at a point of a shortest path.
    fn divide(&mut self, area: Area, tasks: &mut Vec<Task>) -> bool {
        let Area { x: (mut x, mut x_end), y: (mut y, mut y_end) } = area;
        let head = self.equal_ahead(x, x_end, y, y_end);
        let start = (x, y);
        (x, y) = (x + head, y + head);
        let tail = self.equal_behind(x, x_end, y, y_end);
        (x_end, y_end) = (x_end - tail, y_end - tail);
        tasks.push(Task::Equal(x_end, y_end, tail));
        if x < x_end && y < y_end {
            let inner = Area { x: (x, x_end), y: (y, y_end) };
            let Some((middle_x, middle_y)) = self.middle(inner) else { return false };
            self.edits_max = usize::MAX;
            tasks.push(Task::Area(Area { x: (middle_x, x_end), y: (middle_y, y_end) }));
            tasks.push(Task::Area(Area { x: (x, middle_x), y: (y, middle_y) }));
        }
        tasks.push(Task::Equal(start.0, start.1, head));
        true
    }

    /// The number of equal lines from (x, y) on.
    fn equal_ahead(&self, x: usize, x_end: usize, y: usize, y_end: usize) -> usize {
        self.left[x..x_end].iter().zip(&self.right[y..y_end]).take_while(|(a, b)| a == b).count()
    }

    /// The number of equal lines before (x end, y end).
    fn equal_behind(&self, x: usize, x_end: usize, y: usize, y_end: usize) -> usize {
        let pairs = self.left[x..x_end].iter().rev().zip(self.right[y..y_end].iter().rev());
        pairs.take_while(|(a, b)| a == b).count()
    }

    /// Return a point of a shortest path inside the area (the middle snake), or the farthest point within the bound.
    ///
    /// None if the edits of the first search are not enough. The area begins and ends with different lines, so that the
    /// point is neither of its corners.
    fn middle(&mut self, area: Area) -> Option<(usize, usize)> {
        let size = (area.x.1 - area.x.0, area.y.1 - area.y.0);
        let limit = (size.0 + size.1).div_ceil(2).min(EDITS_MAX).min(self.edits_max);
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
        (self.edits_max > EDITS_MAX).then_some((area.x.0 + x, area.y.0 + y))
    }
}

/// Marks a diagonal that no path inside the area reaches.
const NOWHERE: usize = usize::MAX;

/// Geometry of the furthest-reaching paths: diagonal `x - y = k` is stored at index `k + offset`. Both directions
/// measure from their own corner.
struct Reach {
    size: (usize, usize),
    offset: usize,
}

impl Reach {
    /// The indices of the diagonals on which paths of `edits` edits end, as far as they cross the area.
    fn diagonals(&self, edits: usize) -> impl Iterator<Item = usize> + use<> {
        let within = |length: usize| if edits <= length { edits } else { length - (edits - length) % 2 };
        (self.offset - within(self.size.1)..=self.offset + within(self.size.0)).step_by(2)
    }

    /// The y coordinate of x on a diagonal.
    fn y(&self, x: usize, diagonal: usize) -> usize {
        x + self.offset - diagonal
    }

    /// Return the x reached by one more edit on a diagonal: right from the one below, or down from the one above.
    fn step(&self, reached: &[usize], diagonal: usize, edits: usize) -> usize {
        if edits == 0 {
            return 0;
        }
        let (below, above) = (reached[diagonal - 1], reached[diagonal + 1]);
        let right = (below != NOWHERE && below < self.size.0).then(|| below + 1);
        let down = (above != NOWHERE && self.y(above, diagonal + 1) < self.size.1).then_some(above);
        right.max(down).unwrap_or(NOWHERE)
    }

    /// Return true if the search from the other corner has reached this point or passed it on the same diagonal.
    fn meets(&self, other: &[usize], diagonal: usize, x: usize) -> bool {
        // The other search counts from the far corner: its diagonal is width - height - k.
        let mirrored = (self.size.0 + 2 * self.offset).checked_sub(self.size.1 + diagonal);
        let reached = mirrored.and_then(|index| other.get(index)).copied();
        reached.is_some_and(|reached| reached != NOWHERE && x + reached >= self.size.0)
    }

    /// Return the farthest point on any path of so many edits.
    fn farthest(&self, reached: &[usize], edits: usize) -> (usize, usize) {
        let points = self.diagonals(edits).filter(|&diagonal| reached[diagonal] != NOWHERE);
        let points = points.map(|diagonal| (reached[diagonal], self.y(reached[diagonal], diagonal)));
        points.max_by_key(|(x, y)| x + y).unwrap_or(self.size)
    }
}
