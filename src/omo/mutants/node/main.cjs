// Prints the edits that make mutants of a JavaScript or TypeScript file, as JSON:
//
//   node main.cjs ROOT PATH 0-120,300-420 < file.js
//
// The last argument has the bytes of the changed lines. The parser is the first of the project's own that can read the
// file. Each edit leaves a file that it still reads.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const [root, name, changed] = process.argv.slice(2);
const suffix = path.extname(name);
const isTypeScript = /^\.[mc]?tsx?$/.test(suffix);
const bytes = fs.readFileSync(0);
const bom = bytes.subarray(0, 3).equals(Buffer.from("\ufeff")) ? 3 : 0;
const source = bytes.subarray(bom).toString("utf8");
const CONTRARY = ["==", "!=", "===", "!=="];
const MOVED = {
  comparison: { "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "===" },
  boolean: { "&&": "||", "||": "&&" },
  arithmetic: { "+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=" },
};

// Each takes the loaded package and returns a function from a text to its statements, in the form of ESTree.
const PARSERS = {
  typescript(ts) {
    if (typeof ts.createSourceFile !== "function") throw new Error("this version of typescript parses only for itself");
    const kinds = { ".tsx": ts.ScriptKind.TSX, ".jsx": ts.ScriptKind.JSX };
    const kind = kinds[suffix] || (isTypeScript ? ts.ScriptKind.TS : ts.ScriptKind.JS);
    return (text) => {
      const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, false, kind);
      const [wrong] = file.parseDiagnostics;
      if (wrong) throw new Error(ts.flattenDiagnosticMessageText(wrong.messageText, " "));
      return file.statements.map((statement) => estree(ts, file, statement));
    };
  },
  "@babel/parser"(babel) {
    const language = isTypeScript ? ["typescript"] : ["flow"];
    const jsx = isTypeScript && suffix !== ".tsx" ? [] : ["jsx"];
    const plugins = ["estree", "decorators-legacy", ...language, ...jsx];
    const options = { sourceType: "unambiguous", plugins, allowReturnOutsideFunction: true };
    return (text) => babel.parse(text, options).program.body;
  },
  acorn: (acorn) => either((text, sourceType) => acorn.parse(text, { ecmaVersion: "latest", sourceType }).body),
  espree: (espree) =>
    either((text, sourceType) => {
      const options = { ecmaVersion: "latest", sourceType, range: true, ecmaFeatures: { jsx: true } };
      return espree.parse(text, options).body;
    }),
};

function either(parse) {
  return (text) => {
    try {
      return parse(text, "module");
    } catch (error) {
      try {
        return parse(text, "script");
      } catch {
        throw error;
      }
    }
  };
}

// Returns a node of typescript with the fields that one of ESTree has, as far as they are looked at here.
function estree(ts, file, node) {
  if (ts.isParenthesizedExpression(node)) return estree(ts, file, node.expression);
  const type = ts.SyntaxKind[node.kind];
  const of = new Map();
  ts.forEachChild(node, (child) => void of.set(child, estree(ts, file, child)));
  const expression = of.get(node.expression);
  return {
    type,
    start: node.getStart(file),
    end: node.getEnd(),
    test: /^(If|While|Do)Statement$/.test(type) ? expression : of.get(node.condition),
    left: of.get(node.left),
    right: of.get(node.right),
    operator: node.operatorToken && node.operatorToken.getText(file),
    expression,
    argument: expression,
    body: of.get(node.body),
    children: [...of.values()],
  };
}

function main() {
  if (!Buffer.from(source).equals(bytes.subarray(bom))) fail("it is not UTF-8");
  const places = [path.resolve(root, path.dirname(name)), path.resolve(root)];
  const names = isTypeScript ? ["typescript", "@babel/parser"] : Object.keys(PARSERS);
  const reasons = [];
  for (const parser of names) {
    let found;
    try {
      found = require.resolve(parser, { paths: places });
    } catch {
      continue;
    }
    try {
      const parse = PARSERS[parser](require(found));
      const statements = parse(source);
      process.stdout.write(JSON.stringify({ edits: editsOf(statements, parse) }));
      return;
    } catch (error) {
      reasons.push(`${parser}: ${String(error.message).split("\n")[0]}`);
    }
  }
  fail(reasons[0] || `no parser in node_modules (${names.join(", ")})`);
}

function fail(why) {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}

function editsOf(statements, parse) {
  const index = (byte) => bytes.subarray(bom, Math.max(bom, byte)).toString("utf8").length;
  const offset = (at) => bom + Buffer.byteLength(source.slice(0, at));
  const ranges = changed.split(",").filter(Boolean).map((range) => range.split("-").map((byte) => index(Number(byte))));
  const edits = [];
  for (const statement of statements) {
    visit(statement, (kind, from, to, text) => {
      if (ranges.some(([since, until]) => from < until && to > since)) edits.push({ kind, from, to, text });
    });
  }
  const readable = [];
  let left = edits.sort((a, b) => a.from - b.from || b.to - a.to);
  while (left.length) {
    const apart = [];
    const nested = [];
    for (const edit of left) (apart.length && edit.from < apart[apart.length - 1].to ? nested : apart).push(edit);
    readable.push(...thatParse(apart, parse));
    left = nested;
  }
  return readable.map(({ kind, from, to, text }) => ({ start: offset(from), end: offset(to), text, kind }));
}

// Returns the edits after which the file can be read. All are tried at once, and halves of them only where that fails:
// a parse for each would take minutes in a long file.
function thatParse(edits, parse) {
  let text = "";
  let at = 0;
  for (const edit of edits) {
    text += source.slice(at, edit.from) + edit.text;
    at = edit.to;
  }
  try {
    parse(text + source.slice(at));
    return edits;
  } catch {
    const half = edits.length >> 1;
    return half ? [...thatParse(edits.slice(0, half), parse), ...thatParse(edits.slice(half), parse)] : [];
  }
}

function visit(node, replace) {
  const text = (part) => source.slice(part.start, part.end);
  const value = (part) => {
    const other = otherValue(text(part));
    if (other) replace("return", part.start, part.end, other);
  };
  if (node.test && node.type !== "SwitchCase" && !CONTRARY.includes(node.test.operator)) {
    replace("condition", node.test.start, node.test.end, `!(${text(node.test)})`);
  }
  if (node.left && node.right && node.operator) {
    for (const [kind, moved] of Object.entries(MOVED)) {
      const joins = kind === "arithmetic" && [node.left, node.right].some((side) => /^["'`]/.test(text(side)));
      const start = node.left.end + /^(?:[\s()]|\/\*[^]*?\*\/|\/\/.*)*/.exec(source.slice(node.left.end))[0].length;
      if (node.operator in moved && !joins && source.startsWith(node.operator, start)) {
        replace(kind, start, start + node.operator.length, moved[node.operator]);
      }
    }
  }
  if (node.type === "ExpressionStatement" && isCall(node.expression)) replace("call", node.start, node.end, ";");
  if (node.type === "ReturnStatement" && node.argument) value(node.argument);
  if (/^ArrowFunction/.test(node.type) && !/^Block/.test(node.body.type)) value(node.body);
  for (const child of node.children || childrenOf(node)) visit(child, replace);
}

function childrenOf(node) {
  const values = Object.values(node).flat();
  return values.filter((value) => value && typeof value.type === "string" && typeof value.start === "number");
}

function isCall(node) {
  if (node.type === "AwaitExpression") return isCall(node.argument);
  if (node.type === "ChainExpression") return isCall(node.expression);
  return /^((Optional)?Call|Import)Expression$/.test(node.type) && !source.startsWith("super(", node.start);
}

function otherValue(text) {
  if (/^(undefined|null|void 0)$/.test(text)) return "";
  if (/^(true|false)$/.test(text)) return String(text === "false");
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(Number(text))) return String(Number(text) + 1);
  return "undefined";
}

main();
