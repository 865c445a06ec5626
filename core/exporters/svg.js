const svg = document.documentElement;
const rowHeight = 18, boxHeight = 17, pad = 10, letter = 7.23;
const svgSpace = "http://www.w3.org/2000/svg", htmlSpace = "http://www.w3.org/1999/xhtml";
const state = { zoom: frames[0], here: null, term: "", matchCase: false };
// In pixels: of the whole graph, of the header above it, and which part of the page is drawn.
let width = 0, headHeight = 0, drawn = { top: 0, bottom: 0 };

// The graph

const isBelow = (frame) => frame.depth < state.zoom.depth;

// In the graph's pixels; null if the frame is not shown.
function boxOf(frame) {
  const zoom = state.zoom;
  const y = (rows.length - 1 - frame.depth) * rowHeight;
  if (isBelow(frame)) return holds(frame, zoom) ? { x: 0, y, width } : null;
  const pixels = frame.total / zoom.total * width;
  if (!holds(zoom, frame) || pixels < 0.1) return null;
  return { x: (frame.begin - zoom.begin) / zoom.total * width, y, width: pixels };
}

// Part of a path, its corners round where there is room.
function outline({ x, y, width }) {
  const pixels = width > 2 ? width - 0.7 : width;
  if (pixels < 4) return `M${x.toFixed(2)} ${y}h${pixels.toFixed(2)}v${boxHeight}h-${pixels.toFixed(2)}z`;
  const across = (pixels - 3).toFixed(2), down = boxHeight - 3;
  return `M${x.toFixed(2)} ${y + 1.5}q0-1.5 1.5-1.5h${across}q1.5 0 1.5 1.5v${down}q0 1.5-1.5 1.5h-${across}q-1.5 0-1.5-1.5z`;
}

function element(name, attributes, text = "") {
  const made = document.createElementNS(svgSpace, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

const depthAt = (pageY) => rows.length - 1 - Math.floor((pageY - headHeight) / rowHeight);

// What is `reach` pixels or less from the window: a graph may be thousands of rows tall. All boxes of a colour are one
// path: an element for each would take a browser many times as long.
function draw(reach = 5000) {
  drawn = { top: scrollY - reach, bottom: scrollY + innerHeight + reach };
  const paths = new Map(), labels = [];
  for (const row of rows.slice(Math.max(0, depthAt(drawn.bottom)), depthAt(drawn.top) + 1)) {
    for (const frame of row) drawFrame(frame, paths, labels);
  }
  boxes.replaceChildren(...[...paths].map(([classes, parts]) => element("path", { class: classes, d: parts.join("") })), ...labels);
}

function drawFrame(frame, paths, labels) {
  const box = boxOf(frame);
  if (!box) return;
  const marks = (isMatch(frame) ? " match" : "") + (isBelow(frame) ? " below" : "");
  const classes = frame.of.classes + marks;
  if (!paths.has(classes)) paths.set(classes, []);
  paths.get(classes).push(outline(box));
  const text = label(frame.of, Math.floor((box.width - 6) / letter));
  if (!text) return;
  labels.push(element("text", { class: (frame.isThin ? "thin" : "") + marks, x: (box.x + 3).toFixed(1), y: box.y + 12.5 }, text));
}

// After any change of what is to be seen.
function update() {
  search();
  resetButton.hidden = state.zoom === frames[0];
  fit();
  draw();
  surround(hereMark, state.here);
}

function zoomTo(frame) {
  if (!frame || frame.isThin) return;
  state.zoom = frame;
  update();
  saveState("pushState");
}

// Search

function matcher(term) {
  const flags = state.matchCase ? "" : "i";
  try {
    return new RegExp(term, flags);
  } catch {
    return new RegExp(term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), flags);
  }
}

const isMatch = (frame) => frame.of.isMatch;

function search() {
  const pattern = state.term ? matcher(state.term) : null;
  for (const each of functions) each.isMatch = pattern !== null && pattern.test(each.name);
  let matched = 0, covered = 0;
  // A frame below a match is in it already: frames come left to right, the outer first.
  for (const frame of frames.filter(isMatch)) {
    if (frame.begin < covered) continue;
    matched += frame.total;
    covered = end(frame);
  }
  matchedText.textContent = pattern ? "Matched: " + percent(matched) : "";
  caseButton.setAttribute("aria-pressed", String(state.matchCase));
  clearButton.hidden = !pattern;
}

function searchFor(term) {
  state.term = term;
  update();
  saveState("replaceState");
}

// The address: #x=BEGIN&y=DEPTH&s=TERM&case=1

function saveState(how) {
  const values = new URLSearchParams();
  if (frames.length && state.zoom !== frames[0]) {
    values.set("x", state.zoom.begin);
    values.set("y", state.zoom.depth);
  }
  if (state.term) values.set("s", state.term);
  if (state.matchCase) values.set("case", "1");
  try {
    history[how](null, "", "#" + values);
  } catch {
    // A sandboxed document may not change its address: the graph works without.
  }
}

function loadState() {
  const values = new URLSearchParams(location.hash.slice(1));
  const x = Number(values.get("x")), y = Number(values.get("y"));
  const isZoomed = values.has("x") && values.has("y");
  // An address kept from another graph may point to nothing.
  state.zoom = (isZoomed && frames.find((each) => !each.isThin && each.depth === y && each.begin === x)) || frames[0];
  state.term = values.get("s") || "";
  state.matchCase = values.get("case") === "1";
  input.value = state.term;
  update();
}

// Header and tooltip: HTML, for it wraps. Where scripts do not run, the plain texts of the image stay.

function html(name, className, text) {
  const element = document.createElementNS(htmlSpace, name);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

function layer(...children) {
  const foreign = document.createElementNS(svgSpace, "foreignObject");
  foreign.append(...children);
  svg.append(foreign);
  return foreign;
}

function button(text, hint, action) {
  const element = html("button", "", text);
  element.type = "button";
  element.title = hint;
  element.addEventListener("click", action);
  return element;
}

const input = html("input");
const matchedText = html("span", "matched");
const caseButton = button("Aa", "Match upper and lower case", () => {
  state.matchCase = !state.matchCase;
  searchFor(state.term);
});
const clearButton = button("Clear", "Clear the search (Escape in its field)", clearSearch);
const resetButton = button("Reset zoom", "Show the whole graph (Escape)", () => zoomTo(frames[0]));
const searchButton = button("Search", "Search (Ctrl-F)", () => input.focus());
const boxes = element("g", {});
const hereMark = element("path", { class: "outline here" }), pointerMark = element("path", { class: "outline" });
const ground = element("rect", { class: "ground", height: rows.length * rowHeight });
const graph = element("g", { id: "graph", tabindex: 0, role: "application",
                             "aria-label": "Flame graph: arrow keys move, Enter zooms, Escape zooms out" });
graph.append(ground, boxes, hereMark, pointerMark);
svg.append(graph);
const top = html("div", "top");
const topLayer = layer(top);
const tip = html("div", "tip");
const tipLayer = layer(tip);

function buildHeader() {
  const static_ = svg.querySelector("#head");
  for (const text of static_.querySelectorAll("text")) {
    const full = text.querySelector("title");
    const className = text.classList.contains("title") ? "name" : text.classList.contains("warning") ? "bad" : "";
    top.append(html("div", className, (full || text).textContent));
  }
  static_.setAttribute("display", "none");
  input.type = "search";
  input.placeholder = "name or regular expression";
  input.setAttribute("aria-label", "Search frames");
  input.spellcheck = false;
  input.addEventListener("input", () => searchFor(input.value));
  matchedText.setAttribute("role", "status");
  const bar = html("div", "bar");
  bar.append(searchButton, input, caseButton, clearButton, matchedText, resetButton);
  top.append(bar);
  tipLayer.setAttribute("style", "overflow: visible; pointer-events: none");
  tip.setAttribute("role", "status");
}

function clearSearch() {
  input.value = "";
  searchFor("");
}

function details(frame) {
  const lines = [`${counted(frame.total, data.unit)} (${percent(frame.total)})`];
  if (frame.calls) lines[0] += `, self ${grouped(frame.self)} (${percent(frame.self)}), ${counted(frame.calls, "calls")}`;
  if (frame.of.place) lines.push(frame.of.place);
  if (state.zoom !== frames[0] && frame.depth > state.zoom.depth) {
    lines.push((100 * frame.total / state.zoom.total).toFixed(1) + "% of what is zoomed in on");
  }
  return lines;
}

function showTip(frame, x, y) {
  tip.replaceChildren(html("div", "name", frame.of.name), ...details(frame).map((line) => html("div", "", line)));
  const room = svg.getBoundingClientRect().width;
  tip.style.maxWidth = Math.min(640, room - 24) + "px";
  tipLayer.setAttribute("width", room);
  tipLayer.setAttribute("height", 1);
  tipLayer.setAttribute("display", "inline");
  const size = tip.getBoundingClientRect();
  const left = Math.max(2, Math.min(x + 12, room - size.width - 4));
  const fitsBelow = y + 18 + size.height < innerHeight;
  const down = fitsBelow ? y + 18 : Math.max(2, y - size.height - 10);
  tipLayer.setAttribute("x", left + scrollX);
  tipLayer.setAttribute("y", down + scrollY);
}

function hideTip() {
  tipLayer.setAttribute("display", "none");
  surround(pointerMark, null);
}

// Keyboard: one frame is `here`; the arrows move it.

function setHere(frame) {
  state.here = frame;
  surround(hereMark, frame);
  if (!frame) return hideTip();
  const { x, y } = boxOf(frame);
  const top = headHeight + y - scrollY;
  if (top < topLayer.height.baseVal.value || top + boxHeight > innerHeight) scrollBy(0, top - innerHeight / 2);
  showTip(frame, pad + x - scrollX, headHeight + y + 3 - scrollY);
}

function surround(mark, frame) {
  const box = frame ? boxOf(frame) : null;
  mark.setAttribute("d", box ? outline(box) : "");
}

const shownIn = (depth) => (rows[depth] ?? []).filter(boxOf);

const step = {
  ArrowUp: (here) => shownIn(here.depth + 1).filter((each) => holds(here, each))
    .reduce((best, each) => !best || each.total > best.total ? each : best, null),
  ArrowDown: (here) => shownIn(here.depth - 1).find((each) => holds(each, here)),
  ArrowLeft: (here) => shownIn(here.depth).findLast((each) => each.begin < here.begin),
  ArrowRight: (here) => shownIn(here.depth).find((each) => each.begin > here.begin),
};

function onGraphKey(event) {
  if (!frames.length) return;
  const here = state.here && boxOf(state.here) ? state.here : state.zoom;
  if (event.key in step) {
    setHere(step[event.key](here) || here);
  } else if (event.key === "Enter" || event.key === " ") {
    zoomTo(here);
    setHere(here);
  } else {
    return;
  }
  event.preventDefault();
}

function onKey(event) {
  const isFind = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f";
  if ((isFind || event.key === "F3") && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
    input.select();
  } else if (event.key === "Escape") {
    onEscape();
  }
}

function onEscape() {
  if (document.activeElement === input) {
    clearSearch();
    input.blur();
  } else if (state.zoom !== frames[0]) {
    zoomTo(frames[0]);
    if (state.here) setHere(state.here);
  } else if (state.term) {
    clearSearch();
  } else {
    setHere(null);
  }
}

// Size

function fit() {
  const full = svg.getBoundingClientRect().width;
  topLayer.setAttribute("width", full);
  topLayer.setAttribute("height", 1000);
  headHeight = Math.ceil(top.getBoundingClientRect().height);
  topLayer.setAttribute("height", headHeight);
  graph.setAttribute("transform", `translate(${pad} ${headHeight})`);
  // Never lower than the window: the tooltip may need the room below a small graph.
  svg.setAttribute("height", Math.max(headHeight + rows.length * rowHeight + pad, innerHeight));
  width = Math.max(1, full - 2 * pad);
  ground.setAttribute("width", width);
  hideTip();
}

function onScroll() {
  topLayer.setAttribute("y", Math.max(0, scrollY));
  if (scrollY < drawn.top || scrollY + innerHeight > drawn.bottom) draw();
}

// Pointer

function frameAt(event) {
  const x = event.clientX + scrollX - pad;
  return rows[depthAt(event.clientY + scrollY)]?.find((frame) => {
    const box = boxOf(frame);
    return box && box.x <= x && x < box.x + box.width;
  });
}

function onPoint(event) {
  const frame = frameAt(event);
  graph.classList.toggle("pointed", Boolean(frame));
  if (!frame) return hideTip();
  surround(pointerMark, frame);
  showTip(frame, event.clientX, event.clientY);
}

function listen() {
  graph.addEventListener("pointermove", onPoint);
  graph.addEventListener("pointerleave", hideTip);
  graph.addEventListener("click", (event) => {
    setHere(null);
    zoomTo(frameAt(event));
  });
  graph.addEventListener("keydown", onGraphKey);
  graph.addEventListener("focus", () => { if (graph.matches(":focus-visible") && frames.length) setHere(state.here || state.zoom); });
  graph.addEventListener("blur", () => setHere(null));
  addEventListener("keydown", onKey);
  addEventListener("popstate", loadState);
  addEventListener("resize", update);
  addEventListener("scroll", onScroll);
  addEventListener("beforeprint", () => draw(Infinity));
}

buildHeader();
svg.querySelector("#picture").remove();
svg.removeAttribute("viewBox");
svg.setAttribute("width", "100%");
listen();
// The graph grows from the bottom; a tall one begins there.
fit();
scrollTo(0, svg.getBoundingClientRect().height);
loadState();
onScroll();
