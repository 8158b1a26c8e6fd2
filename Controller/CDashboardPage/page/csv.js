// Saves the displayed part of the chart as comma-separated values (RFC 4180).

/** Quotes a text. Names of plugs are untrusted: a text that a spreadsheet would compute gets an apostrophe. */
function quoted(text) {
  const plain = text.replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");
  return `"${(/^[=+\-@]/.test(plain) ? `'${plain}` : plain).replaceAll("\"", "\"\"")}"`;
}

/** Returns one line per point. Times are in UTC, powers in W. @param {Array<[string, Course]>} shown */
export function csvOf(shown, from, to) {
  const lines = ["at,plug,activePower,minActivePower,maxActivePower"];
  for (const [name, course] of shown) {
    for (let index = course.from(from); index < course.times.length && course.times[index] <= to; index++) {
      const powers = [course.values, course.lows, course.highs].map((list) => list[index]);
      lines.push([new Date(course.times[index]).toISOString(), quoted(name), ...powers].join(","));
    }
  }
  return `${lines.join("\r\n")}\r\n`;
}

/** Offers a text as a file. */
export function saveFile(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
