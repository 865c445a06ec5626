// What the graph is of: its frames, their numbers in words and their names in a given room. svg.js follows in the same
// script.
const grouped = new Intl.NumberFormat("en-US").format;
const data = JSON.parse(document.querySelector("#data").textContent);
const functions = data.functions.map(readFunction);
const frames = readFrames();
const whole = frames.length ? frames[0].total : 0;
const rows = inRows(frames);

function readFunction([name, classes, place, bare = 0, parameters = name.length]) {
  return { name, classes, place, bare, parameters, isMatch: false };
}

// Each before those above it, left to right. One begins where the one before it in its row, or else its caller, left off.
function readFrames() {
  const next = [0];
  return data.frames.map(([number, depth, total, ...counts]) => {
    const begin = next[depth];
    next[depth] += total;
    next[depth + 1] = begin;
    if (number < 0) return { of: thinFrames(counts[0]), depth, begin, total, isThin: true };
    return { of: functions[number], depth, begin, total, self: counts[0], calls: counts[1], isThin: false };
  });
}

function thinFrames(count) {
  return readFunction([`… ${counted(count, "thin frames")}`, "thin", ""]);
}

function inRows(frames) {
  const rows = [];
  for (const frame of frames) (rows[frame.depth] ??= []).push(frame);
  return rows;
}

const end = (frame) => frame.begin + frame.total;
const holds = (outer, inner) => outer.begin <= inner.begin && end(inner) <= end(outer);
const percent = (part) => {
  const share = whole ? 100 * part / whole : 0;
  return part > 0 && share < 0.05 ? "<0.1%" : share.toFixed(1) + "%";
};
function counted(number, units) { return `${grouped(number)} ${number === 1 ? units.slice(0, -1) : units}`; }

// Labels

const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const plain = /^[ -~]*$/;

function cutTo(text, columns) {
  if (plain.test(text)) return text.length <= columns ? text : text.slice(0, columns - 1) + "…";
  const letters = [...text];
  let taken = 0, at = 0;
  const sizes = letters.map((each) => wide.test(each) ? 2 : 1);
  if (sizes.reduce((sum, size) => sum + size, 0) <= columns) return text;
  while (taken + sizes[at] < columns) taken += sizes[at++];
  return letters.slice(0, at).join("") + "…";
}

function label(of, columns) {
  if (columns < 3) return "";
  if (cutTo(of.name, columns) === of.name) return of.name;
  const withoutParameters = of.name.slice(0, of.parameters);
  if (cutTo(withoutParameters, columns) === withoutParameters) return withoutParameters;
  return cutTo(of.name.slice(of.bare, of.parameters), columns);
}
