// Follows the file that speedscope is given, in its own page: has it export again what it has understood (Ctrl-S).
// `readBack` is a promise of that.
window.readBack = new Promise((done) => {
  const said = [];
  const log = console.log;
  console.log = (...words) => {
    said.push(words.map((word) => word?.stack ?? String(word)).join(" "));
    log(...words);
  };
  window.alert = (text) => said.push(`alert: ${text}`);
  addEventListener("error", (event) => said.push(`error: ${event.message}`));
  addEventListener("unhandledrejection", (event) => said.push(`error: ${event.reason}`));

  // What a blob holds, without waiting for it to be read.
  const contents = new WeakMap();
  const Blob = window.Blob;
  window.Blob = function (parts, options) {
    const blob = new Blob(parts, options);
    contents.set(blob, parts.join(""));
    return blob;
  };
  let exported = null;
  URL.createObjectURL = (blob) => {
    exported = contents.get(blob);
    return "#";
  };

  const hasFailed = () => said.some((line) => /^(alert:|error:|Failed to load)/.test(line));
  const table = () =>
    [...document.querySelectorAll("table tr")].map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent));

  function finish() {
    done({
      title: document.title,
      said,
      text: document.body.innerText,
      table: table(),
      file: exported ? JSON.parse(exported) : null,
    });
  }

  // Until it is loaded, speedscope has nothing to export.
  function next() {
    if (exported || hasFailed()) return finish();
    dispatchEvent(new KeyboardEvent("keydown", { key: "s", ctrlKey: true }));
    requestAnimationFrame(next);
  }
  requestAnimationFrame(next);
});
