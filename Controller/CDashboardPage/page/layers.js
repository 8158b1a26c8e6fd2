// Stacks courses in a chart: each course is drawn on top of the previous ones, so that the upper edge is the total.

/**
 * Adds courses up. Returns the edges of the layers as powers in W per pixel, beginning with the lower edge of the lowest
 * layer. A course adds nothing within its gaps.
 * @param {Array} drawn The courses as runs of columns; see `chart.js`.
 * @param {number} width in pixels.
 */
export function layers(drawn, width) {
  const edges = [new Float64Array(Math.floor(width) + 1)];
  for (const { runs } of drawn) edges.push(raised(edges.at(-1), runs));
  return edges;
}

const mean = (column) => column.sum / column.count;

function raised(edge, runs) {
  const upper = Float64Array.from(edge);
  // Two runs may share a pixel, to which only the first one adds.
  let free = 0;
  for (const run of runs) {
    run.forEach((column, index) => {
      const next = run[index + 1] ?? { ...column, x: column.x + 1 };
      const [value, slope] = [mean(column), (mean(next) - mean(column)) / (next.x - column.x)];
      for (let x = Math.max(column.x, free); x < next.x && x < upper.length; x++) upper[x] += value + slope * (x - column.x);
      free = Math.max(free, next.x);
    });
  }
  return upper;
}
