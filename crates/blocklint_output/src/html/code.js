// Source text: lines with what is meant marked, and a little colour.

const COLOURS = {
  python: {
    tokens: /(#.*)|([rbfut]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?))|(\b\d[\w.]*)|(@[\w.]+)|([\p{L}_][\p{L}\p{N}_]*)/giu,
    words: 'and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield None True False self',
  },
  rust: {
    tokens: /(\/\/.*|\/\*[^]*?(?:\*\/|$))|(b?r?#*"(?:\\.|[^"\\])*"?|b?'(?:\\.[^']*|[^'\\])')|(\b\d[\w.]*)|(#!?\[[^\]]*\]?|'[a-z_]\w*)|([\p{L}_][\p{L}\p{N}_]*!?)/giu,
    words: 'as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait type unsafe use where while true false',
  },
  java: {
    tokens: /(\/\/.*|\/\*[^]*?(?:\*\/|$))|("""[^]*?(?:"""|$)|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])+')|(\b\d[\w.]*)|(@[\w.]+)|([\p{L}_$][\p{L}\p{N}_$]*)/giu,
    words: 'abstract assert boolean break byte case catch char class continue default do double else enum extends final finally float for if implements import instanceof int interface long new null package private protected public record return sealed short static super switch synchronized this throw throws transient try var void volatile while yield true false',
  },
};
for (const colours of Object.values(COLOURS)) colours.words = new Set(colours.words.split(' '));
const KINDS = [null, 'comment', 'string', 'number', 'attribute'];

/** The line as spans; the characters from `from` to `to` (from 0, in characters) are marked. */
function codeLine(text, language, from, to) {
  const { tokens, words } = COLOURS[language] || COLOURS.python;
  const edges = [];
  for (const match of text.matchAll(tokens)) {
    let kind = null;
    for (let at = 1; at < 5; at += 1) if (match[at] !== undefined) kind = KINDS[at];
    if (match[5] !== undefined) {
      if (words.has(match[5])) kind = 'keyword';
      else if (text[match.index + match[0].length] === '(') kind = 'called';
    }
    if (kind) edges.push([match.index, match.index + match[0].length, kind]);
  }
  const characters = Array.from(text);
  const unit = (column) => characters.slice(0, column).join('').length;
  const [markFrom, markTo] = from === undefined ? [-1, -1] : [unit(from), unit(to)];
  const parts = document.createDocumentFragment();
  let mark = null;
  const put = (start, end, kind) => {
    if (start >= end) return;
    if (start < markFrom && markFrom < end) return put(start, markFrom, kind), put(markFrom, end, kind);
    if (start < markTo && markTo < end) return put(start, markTo, kind), put(markTo, end, kind);
    const marked = start >= markFrom && start < markTo;
    if (marked && !mark) parts.append((mark = h('mark', {})));
    if (!marked) mark = null;
    const piece = visible(text.slice(start, end));
    (mark || parts).append(kind ? h('span', { class: `t-${kind}` }, piece) : piece);
  };
  let at = 0;
  for (const [start, end, kind] of edges) {
    put(at, start, null);
    put(start, end, kind);
    at = end;
  }
  put(at, text.length, null);
  return parts;
}

/** The text of a line of a file, from 0; `undefined` where the report does not hold it. */
function lineOf(file, number) {
  for (const [first, lines] of file.excerpts) {
    if (number >= first && number < first + lines.length) return lines[number - first];
  }
  return undefined;
}

/** The lines of a place and `around` others above and below; `says` stands beneath what is marked. */
function sourceFrame(report, at, says, around, tone) {
  const [fileNumber, line, row, column, endRow, endColumn] = at;
  const file = report.files[fileNumber];
  const shift = row - line;
  const last = line + Math.min(endRow - row, 12);
  const body = h('div', { class: 'lines', role: 'region', 'aria-label': `source of ${plain(placeText(report, at))}`, tabindex: '0' });
  const common = indent(file, line - around, last + around);
  for (let number = Math.max(0, line - around); number <= last + around; number += 1) {
    const text = lineOf(file, number);
    const shown = number + shift;
    if (text === undefined || shown < 1) continue;
    // Nothing but blank lines up to an edge says nothing.
    const isBlank = (from, to) => { for (let at = from; at <= to; at += 1) if ((lineOf(file, at) || '').trim()) return false; return true; };
    if (number < line && isBlank(line - around, number)) continue;
    if (number > last && isBlank(number, last + around)) continue;
    const marked = number >= line && number <= last;
    const length = Array.from(text).length;
    const start = number === line ? column - 1 : text.length - text.trimStart().length;
    const end = number - line === endRow - row ? endColumn - 1 : length;
    const code = h('code', {});
    // What all lines begin with says nothing.
    const cut = text.slice(0, common).trim() === '' ? common : 0;
    code.append(marked ? codeLine(text.slice(cut), file.language, Math.max(0, start - cut), Math.max(start + 1, end) - cut) : codeLine(text.slice(cut), file.language));
    body.append(h('div', { class: marked ? 'line marked' : 'line' }, h('span', { class: 'number' }, String(shown)), code));
    if (number === last && line !== last && says) {
      body.append(h('div', { class: `says ${tone || ''}` }, h('span', { class: 'number' }), h('span', { class: 'says-text' }, inlineCode(says))));
    }
    if (number === line && says) {
      if (line !== last) continue;
      const offset = h('span', { class: 'says-offset', 'aria-hidden': 'true' }, ' '.repeat(Math.max(0, Math.min(column - 1 - cut, 60))));
      body.append(h('div', { class: `says ${tone || ''}` }, h('span', { class: 'number' }), offset, h('span', { class: 'says-text' }, inlineCode(says))));
    }
  }
  if (!body.childElementCount) body.append(h('div', { class: 'line missing' }, 'The text of this file was not at hand.'));
  return body;
}

/** How many blanks all these lines begin with. */
function indent(file, from, to) {
  let least = Infinity;
  for (let number = Math.max(0, from); number <= to; number += 1) {
    const text = lineOf(file, number);
    if (text && text.trim()) least = Math.min(least, /^ */.exec(text)[0].length);
  }
  return least === Infinity ? 0 : least;
}

/** Text in which what stands in backticks is code. */
function inlineCode(text) {
  const parts = document.createDocumentFragment();
  text.split('`').forEach((part, at) => {
    if (part) parts.append(at % 2 ? h('code', {}, part) : visible(part));
  });
  return parts;
}

/** The lines of a fix. */
function changeBlock(report, change) {
  const block = h('div', { class: 'lines diff', tabindex: '0', role: 'region', 'aria-label': 'what the fix changes' });
  for (const [sign, text] of change.lines) {
    if (sign === '@') {
      block.append(h('div', { class: 'line gap' }, '⋯'));
      continue;
    }
    const kind = { '+': ' added', '-': ' removed' }[sign] || '';
    const code = h('code', {});
    code.append(codeLine(text, report.files[change.file].language));
    block.append(h('div', { class: `line${kind}` }, h('span', { class: 'number' }, sign === ' ' ? '' : sign), code));
  }
  return block;
}
