// The cases of svg_test.py: each runs in the SVG's own page, as a user would act on it.
const graph = document.querySelector("#graph") ?? document.querySelector("#picture");
const input = document.querySelector(".top input");

function expectEqual(actual, expected, what) {
  if (actual !== expected) throw new Error(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}

function expectNear(actual, expected, what) {
  if (!(Math.abs(actual - expected) <= 1.5)) throw new Error(`${what}: expected about ${expected}, got ${actual}`);
}

function expectIncludes(text, part, what) {
  if (!text.includes(part)) throw new Error(`${what}: expected ${JSON.stringify(part)} in ${JSON.stringify(text)}`);
}

const isShown = (element) => element.getBoundingClientRect().width > 0;
const tip = () => document.querySelector(".tip");
const button = (text) => [...document.querySelectorAll(".top button")].find((each) => each.textContent === text);
const matched = () => document.querySelector(".matched").textContent;
const fullWidth = () => document.documentElement.getBoundingClientRect().width - 20;

// The boxes of a path, in the window's pixels.
function boxesOf(path) {
  const { e: left, f: top } = path.getScreenCTM();
  return [...path.getAttribute("d").matchAll(/M([\d.]+) ([\d.]+)(q0-1\.5 1\.5-1\.5)?h([\d.]+)/g)].map(([, x, y, corner, across]) => {
    const width = Number(across) + (corner ? 3 : 0);
    const box = { left: left + Number(x), top: top + Number(y) - (corner ? 1.5 : 0), width, classes: [...path.classList] };
    return { ...box, right: box.left + width, bottom: box.top + 17 };
  });
}

// All that are drawn, the lowest row first, from the left.
function drawn() {
  const boxes = [...graph.querySelectorAll("path:not(.outline)")].flatMap(boxesOf);
  return boxes.sort((one, other) => other.top - one.top || one.left - other.left);
}

function nameOf(box) {
  at(box, "pointermove");
  return tip().querySelector(".name").textContent;
}

const named = (name) => drawn().find((box) => nameOf(box).startsWith(name));
const widthOf = (name) => named(name).width;

// The box a label is in.
function boxAround(text, boxes) {
  const { left, top, height } = text.getBoundingClientRect(), middle = top + height / 2;
  return boxes.find((box) => box.left <= left && left < box.right && box.top < middle && middle < box.bottom);
}

const labelOf = (box) => [...graph.querySelectorAll("text")].find((text) => boxAround(text, [box]))?.textContent;

// Hits what is really on top at the middle of the element or box.
function at(what, type) {
  const box = what.getBoundingClientRect?.() ?? { height: what.bottom - what.top, ...what };
  const place = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true };
  const target = document.elementFromPoint(place.clientX, place.clientY);
  if (!target) throw new Error(`nothing is at ${place.clientX}, ${place.clientY}`);
  target.dispatchEvent(new PointerEvent(type, place));
}

function press(key, target = document.activeElement, more = {}) {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
}

function type(text) {
  input.value = text;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

const cases = {
  opens() {
    const boxes = drawn();
    expectEqual(boxes.length, 22, "frames");
    expectNear(boxes[0].width, fullWidth(), "width of the lowest frame");
    expectEqual(nameOf(boxes[0]), "app::serve(app::Request const&)", "the lowest frame");
    const head = document.querySelector(".top").textContent;
    for (const part of ["app::serve(app::Request const&), invocation 2 of thread 4711: 75,527 instructions", "stepping",
      "LLDB 19.1.7", "complete", "1 stack of 7 instructions or less, 2 in all (<0.1%)"]) {
      expectIncludes(head, part, "header");
    }
    expectEqual(document.querySelector("#picture"), null, "what is for viewers without scripts");
  },

  without_scripts() {
    const boxes = drawn();
    expectEqual(boxes.length, 22, "frames");
    expectNear(boxes[0].width, 1180, "width of the lowest frame");
    expectEqual(labelOf(boxes[0]), "app::serve(app::Request const&)", "label of the lowest frame");
    const labels = [...graph.querySelectorAll("text")];
    expectEqual(labels.length, 18, "labels");
    expectEqual(labels.every((text) => isShown(text) && boxAround(text, boxes)), true, "each label is in a frame");
    expectEqual(isShown(graph.querySelector("path")), true, "shown");
    expectIncludes(document.querySelector("#head").textContent, "75,527 instructions", "header");
  },

  hover() {
    at(named("deflate"), "pointermove");
    if (!isShown(tip())) throw new Error("no details are shown");
    for (const part of ["deflate", "9,000 instructions (11.9%)", "self 9,000 (11.9%)", "1 call", "libz.so.1.2.13"]) {
      expectIncludes(tip().textContent, part, "details");
    }
    const outline = boxesOf([...graph.querySelectorAll(".outline")].find(isShown))[0];
    expectEqual(outline.left, named("deflate").left, "begin of the outline");
    at(named("std::vector"), "pointermove");
    for (const part of ["push_back(char&&)", "12 calls", "inlined, server, stl_vector.h:1287"]) {
      expectIncludes(tip().textContent, part, "details of an inlined frame");
    }
    graph.dispatchEvent(new PointerEvent("pointerleave"));
    expectEqual(isShown(tip()), false, "details after leaving");
    expectEqual([...graph.querySelectorAll(".outline")].some(isShown), false, "outline after leaving");
  },

  zoom() {
    at(named("app::respond"), "click");
    expectNear(widthOf("app::respond"), fullWidth(), "zoomed frame");
    expectNear(widthOf("app::serve"), fullWidth(), "frame below");
    expectEqual(drawn()[0].classes.includes("below"), true, "frame below is paler");
    expectEqual(named("app::json::parse("), undefined, "a sibling");
    expectNear(widthOf("deflate"), fullWidth() * 9000 / 16000, "a frame above");
    expectIncludes(labelOf(named("app::json::write")), "app::json::write", "label grown with its frame");
    at(named("deflate"), "pointermove");
    expectIncludes(tip().textContent, "56.3% of what is zoomed in on", "details");
    at(button("Reset zoom"), "click");
    expectEqual(Boolean(named("app::json::parse(")), true, "a sibling is shown after reset");
    expectEqual(button("Reset zoom").hidden, true, "reset button hidden");
    at(named("app::respond"), "click");
    at(drawn()[0], "click");
    expectEqual(Boolean(named("app::json::parse(")), true, "a sibling is shown after a click on the trigger");
  },

  search() {
    press("f", document.documentElement, { ctrlKey: true });
    expectEqual(document.activeElement, input, "focus after Ctrl-F");
    type("parse");
    expectEqual(matched(), "Matched: 47.2%", "nested matches count once");
    expectEqual(named("app::json::parse_object").classes.includes("match"), true, "match marked");
    expectEqual(named("deflate").classes.includes("match"), false, "other marked");
    expectEqual(getComputedStyle(graph.querySelector("path.match")).fill, "rgb(154, 77, 255)", "colour");
    type("malloc|deflate");
    expectEqual(matched(), "Matched: 14.3%", "a regular expression");
    type("operator(");
    expectEqual(matched(), "Matched: 3.8%", "what is no regular expression is looked for as it is");
    type("nowhere");
    expectEqual(matched(), "Matched: 0.0%", "no match");
    press("Escape", input);
    expectEqual(matched() + input.value, "", "after Escape");
    at(button("Search"), "click");
    expectEqual(document.activeElement, input, "focus after the button");
  },

  match_case() {
    type("PARSE");
    expectEqual(matched(), "Matched: 47.2%", "either case");
    at(button("Aa"), "click");
    expectEqual(matched(), "Matched: 0.0%", "exact case");
    expectEqual(button("Aa").getAttribute("aria-pressed"), "true", "pressed");
    at(button("Aa"), "click");
    expectEqual(matched(), "Matched: 47.2%", "either case again");
  },

  keyboard() {
    expectEqual(graph.getAttribute("tabindex"), "0", "the graph can be reached by Tab");
    graph.focus();
    const here = () => nameOf(boxesOf(graph.querySelector(".here"))[0]);
    press("ArrowUp");
    expectIncludes(here(), "app::json::parse(", "the widest frame above");
    press("ArrowRight");
    expectIncludes(here(), "std::map", "the next frame");
    press("ArrowRight");
    press("ArrowRight");
    expectIncludes(here(), "app::respond", "two frames on");
    expectIncludes(tip().textContent, "16,000 instructions (21.2%)", "details");
    press("Enter");
    expectNear(widthOf("app::respond"), fullWidth(), "zoomed frame");
    press("ArrowDown");
    expectIncludes(here(), "app::serve", "the frame below");
    press("Escape");
    expectEqual(Boolean(named("app::json::parse(")), true, "a sibling is shown after Escape");
    press("ArrowUp");
    press("ArrowLeft");
    expectIncludes(here(), "app::json::parse(", "the first frame has none to its left");
  },

  async address() {
    at(named("app::respond"), "click");
    type("deflate");
    const values = new URLSearchParams(location.hash.slice(1));
    expectEqual(values.get("s"), "deflate", "search in the address");
    expectEqual(`${values.get("x")} ${values.get("y")}`, "58325 1", "zoom in the address");
    const isBack = new Promise((done) => addEventListener("popstate", done));
    history.back();
    await isBack;
    expectEqual(Boolean(named("app::json::parse(")), true, "whole graph after going back");
  },

  kept_address() {
    expectNear(widthOf("app::respond"), fullWidth(), "zoomed frame");
    expectEqual(input.value, "deflate", "search field");
    expectEqual(matched(), "Matched: 11.9%", "share");
    expectEqual(button("Aa").getAttribute("aria-pressed"), "true", "case");
  },

  stale_address() {
    expectNear(drawn()[0].width, fullWidth(), "width of the trigger");
    expectEqual(drawn().length, 22, "frames shown");
    expectEqual(matched(), "Matched: 0.0%", "share");
  },

  narrow() {
    expectNear(drawn()[0].width, fullWidth(), "width of the trigger");
    labelsFit();
    document.documentElement.setAttribute("width", "2400");
    dispatchEvent(new Event("resize"));
    expectNear(drawn()[0].width, 2380, "width of the trigger after a resize");
    labelsFit();
    expectEqual(labelOf(drawn()[1]), "app::json::parse(std::basic_string_view<char, std::char_traits<char> >)", "label");
  },

  dark() {
    expectEqual(getComputedStyle(document.querySelector(".page")).fill, "rgb(21, 24, 28)", "background");
  },

  hard_names() {
    const expected = ["trigger", "two words", "semi;colon", "less<than & \"more\"> 'quoted'", "new line tab  ", "größe::数える(π)",
      "bad\ufffd utf\ufffd", "overlong\ufffd\ufffd surrogate\ufffd\ufffd\ufffd noncharacter\ufffd", "line separator", "count 42",
      "decimal 4.5", "12", "]]" + "> <![CDATA[ --> </svg>", "[unknown]", "[unknown]", "x".repeat(10000)];
    const boxes = drawn();
    const actual = boxes.map(nameOf).filter((name) => name !== "leaf");
    expectEqual(JSON.stringify(actual), JSON.stringify(expected), "names");
    expectEqual(boxes.length, 31, "frames");
    expectIncludes(document.querySelector(".bad").textContent, "incomplete: the program exited with <status> 3", "header");
    at(boxes.findLast((box) => nameOf(box) !== "leaf"), "pointermove");
    const details = tip().getBoundingClientRect(), page = document.documentElement.getBoundingClientRect();
    expectEqual(details.height < 400 && details.bottom <= page.bottom && details.right <= page.right, true, "details fit the page");
    labelsFit();
  },

  deep() {
    expectEqual(graph.querySelector(".ground").getBoundingClientRect().height, 20000 * 18, "height of 20,000 rows");
    const lowest = drawn()[0];
    expectEqual(lowest.bottom <= innerHeight && lowest.top > 0, true, "the trigger is in view");
    expectNear(document.querySelector(".top").getBoundingClientRect().top, 0, "the header is in view");
    graph.focus();
    for (let up = 0; up < 100; ++up) press("ArrowUp");
    const here = boxesOf(graph.querySelector(".here"))[0];
    expectEqual(here.top > 0 && here.bottom < innerHeight, true, "the current frame is in view");
    scrollTo(0, 180000);
    dispatchEvent(new Event("scroll"));
    expectEqual(nameOf(drawn().find((box) => box.top > innerHeight / 2 && box.bottom < innerHeight)).length > 0, true, "frames half-way up");
    if (drawn().length > 1000) throw new Error(`${drawn().length} frames are drawn, most of them out of sight`);
    dispatchEvent(new Event("beforeprint"));
    expectEqual(drawn().length, 20000, "frames in print");
  },

  wide() {
    if (drawn().length > 20000) throw new Error(`${drawn().length} frames are too many to open at once`);
    const first = drawn()[1], name = nameOf(first);
    const thin = drawn().find((box) => box.classes.includes("thin"));
    expectIncludes(nameOf(thin), "thin frames", "thin frames");
    expectIncludes(tip().textContent, "instructions", "details of thin frames");
    at(first, "click");
    expectNear(widthOf(name), fullWidth(), "zoomed frame");
    at(drawn().find((box) => box.classes.includes("thin")), "click");
    expectNear(widthOf(name), fullWidth(), "thin frames do not zoom");
  },

  empty() {
    expectEqual(drawn().length, 0, "frames");
    expectIncludes(document.querySelector(".top").textContent, "Nothing was recorded.", "header");
    type("x");
    expectEqual(matched(), "Matched: 0.0%", "share");
    graph.focus();
    press("ArrowUp");
    press("Enter");
    press("Escape", document.documentElement);
  },
};

function labelsFit() {
  const boxes = drawn();
  for (const text of graph.querySelectorAll("text")) {
    const room = boxAround(text, boxes)?.width ?? 0;
    if (text.getComputedTextLength() > room) throw new Error(`"${text.textContent}" does not fit into ${room} px`);
  }
}

// Null, or what is wrong.
async function run(name) {
  const expectNoErrors = () => { if (window.pageErrors?.length) throw new Error("the page failed: " + pageErrors.join("; ")); };
  try {
    expectNoErrors();
    await cases[name]();
    expectNoErrors();
    return null;
  } catch (error) {
    return error.message;
  }
}
