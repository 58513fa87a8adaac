// Elements, made without markup: every text becomes a text node.

const SVG = 'http://www.w3.org/2000/svg';

/** An element. `props`: `class`, `text`, `on` (listeners), everything else an attribute; `null` and `false` are left out. */
function make(namespace, tag, props, children) {
  const element = namespace ? document.createElementNS(namespace, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (name === 'text') element.append(visible(value));
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === 'string' ? visible(child) : child);
  }
  return element;
}

const h = (tag, props, ...children) => make(null, tag, props, children);
const svg = (tag, props, ...children) => make(SVG, tag, props, children);

// Characters that show nothing, or turn the order of what is around them: names and source text come from strangers.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/u;
const HIDDEN_PARTS = new RegExp(`(${HIDDEN.source})`, 'u');

/** Text in which such characters are seen. */
function visible(text) {
  text = String(text);
  if (!HIDDEN.test(text)) return document.createTextNode(text);
  const parts = document.createDocumentFragment();
  for (const part of text.split(HIDDEN_PARTS)) {
    if (part && HIDDEN.test(part)) {
      const code = `U+${part.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
      const shown = document.createElement('span');
      shown.className = 'hidden-char';
      shown.title = `the character ${code}, which shows nothing by itself`;
      shown.textContent = code;
      parts.append(shown);
    } else if (part) parts.append(part);
  }
  return parts;
}

/** The same for places that take text only, such as attributes and SVG. */
const plain = (text) => String(text).replace(new RegExp(HIDDEN.source, 'gu'), '\ufffd');

const plural = (count, one, many) => `${count.toLocaleString('en')} ${count === 1 ? one : many || `${one}s`}`;

/** The last `length` characters, which tell more of a path than the first. */
const tail = (text, length) => {
  const characters = Array.from(text);
  return characters.length <= length ? text : `…${characters.slice(1 - length).join('')}`;
};
const head = (text, length) => {
  const characters = Array.from(text);
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
};

function icon(name, size) {
  const paths = {
    search: ['M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Z', 'm14 14-3.4-3.4'],
    sun: ['M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z', 'M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1'],
    moon: ['M13.5 9.5A6 6 0 0 1 6.5 2.5a5.8 5.8 0 1 0 7 7Z'],
    copy: ['M5.5 5.5V3.2c0-.4.3-.7.7-.7h6.6c.4 0 .7.3.7.7v6.6c0 .4-.3.7-.7.7h-2.3', 'M3.2 5.5h6.6c.4 0 .7.3.7.7v6.6c0 .4-.3.7-.7.7H3.2a.7.7 0 0 1-.7-.7V6.2c0-.4.3-.7.7-.7Z'],
    check: ['m3 8.5 3.2 3.2L13 5'],
    link: ['M6.7 9.3a2.6 2.6 0 0 0 3.8.3l2-2a2.7 2.7 0 0 0-3.8-3.8L7.6 5', 'M9.3 6.7a2.6 2.6 0 0 0-3.8-.3l-2 2a2.7 2.7 0 0 0 3.8 3.8L8.4 11'],
    down: ['m4 6 4 4 4-4'],
    back: ['M10 3 5 8l5 5'],
    plus: ['M8 3v10M3 8h10'],
    minus: ['M3 8h10'],
    fit: ['M2.5 6V2.5H6M10 2.5h3.500V6M13.5 10v3.500H10M6 13.500H2.5V10'],
    clock: ['M8 14.500a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Z', 'M8 4.500V8l2.3 1.5'],
    wrench: ['M13.6 4.3 11.3 6.6 9.4 6.6 9.4 4.7 11.7 2.400A3.8 3.8 0 0 0 6.8 7.300L2.3 11.800a1.340 1.340 0 0 0 1.9 1.900L8.7 9.200a3.8 3.8 0 0 0 4.9-4.900Z'],
    close: ['m4 4 8 8M12 4l-8 8'],
    keyboard: ['M2 4h12v8H2Z', 'M4.5 6.500h.1M7 6.500h.1M9.5 6.500h.1M11.5 6.500h.1M5 9.500h6'],
  };
  const shape = svg('svg', { class: 'icon', viewBox: '0 0 16 16', width: size || 16, height: size || 16, 'aria-hidden': 'true' });
  for (const d of paths[name]) shape.append(svg('path', { d }));
  return shape;
}

/** Copies and says so on the button. */
function copyButton(text, title) {
  const button = h('button', { class: 'quiet', type: 'button', title, 'aria-label': title }, icon('copy', 14));
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Pages opened from a file may not use it everywhere.
      const area = h('textarea', { class: 'offscreen' });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
    button.replaceChildren(icon('check', 14));
    setTimeout(() => button.replaceChildren(icon('copy', 14)), 1200);
  });
  return button;
}
