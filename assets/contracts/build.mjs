// Compiles the contracts of this folder into artifacts/<Name>.json, takes EntryPoint from its package, as it is, and the
// contracts of Kernel from kernel/creation-calls.json, with the interfaces that Kernel.sol gives them. The contracts of
// hostile/, which attack the others in tests, become hostile/<Name>.json and are not shipped.
//
//   node build.mjs           writes artifacts/ and manifest.json
//   node build.mjs --check   builds in memory and compares with the committed files, byte for byte; exit code 1 on a difference
//
// sourceSha256 of a contract is the SHA-256 of a text with one line per source file it needs, its own and every imported
// one, sorted by name in byte order: "<sha256 of the file, hex>  <source name>\n" (what sha256sum prints). EntryPoint has
// one line, for the JSON file in its package, and Kernel's have one more, for their creation calls. manifest.json holds the hashes of all files involved, so that the Go
// tests can compare them without node_modules.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, "node_modules");
const solc = createRequire(import.meta.url)("solc");

const CONTRACTS = [
  "Escrow",
  "Feed",
  "Filler",
  "RoleBasedECDSAValidator",
  "Token",
  "Window",
];
const HOSTILE = ["HostileAccount", "HostileRecipient", "HostileToken"];
const HOSTILE_SOURCE = "hostile/Hostile.sol";
// Salt and init code, arguments included, as the deterministic deployer takes them.
const KERNEL_SOURCE = "kernel/creation-calls.json";
const KERNEL = {
  ECDSAValidator: "KERNEL_V07_V3_1_ECDSA_VALIDATOR_V3_CREATECALL",
  KernelFactory: "KERNEL_V07_V3_1_FACTORY_CREATECALL",
  KernelV31: "KERNEL_V07_V3_1_ACCOUNT_V3_LOGIC_CREATECALL",
  KernelV33: "KERNEL_V07_V3_3_ACCOUNT_V3_LOGIC_CREATECALL",
  MetaFactory: "KERNEL_V07_META_FACTORY_CREATECALL",
};
const ZERO_SALT = "0x" + "0".repeat(64);
const ENTRY_POINT_SOURCE = "@account-abstraction/contracts/artifacts/EntryPoint.json";
// Whatever changes the output without being a source.
const TOOLS = ["build.mjs", "package-lock.json"];
const SETTINGS = {
  viaIR: true,
  optimizer: { enabled: true, runs: 10000 },
  evmVersion: "prague",
  // No hash of the metadata in the code: the same code from the same text, whatever the comments' file names are.
  metadata: { bytecodeHash: "none", appendCBOR: false },
};

// Warnings that the source explains, as "code file": transient storage that is written in assembly, because Solidity has no
// transient mappings.
const EXPLAINED = new Set(["2394 Filler.sol"]);

const sha256 = (data) => createHash("sha256").update(data).digest("hex");
const json = (value) => JSON.stringify(value, null, 1) + "\n";
const byBytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));

function compile() {
  const texts = new Map();
  const sources = {};
  for (const name of [...readdirSync(here).filter((n) => n.endsWith(".sol")), HOSTILE_SOURCE].sort(byBytes)) {
    const content = readFileSync(join(here, name), "utf8");
    texts.set(name, content);
    sources[name] = { content };
  }
  const findImport = (name) => {
    try {
      const contents = readFileSync(join(modules, name), "utf8");
      texts.set(name, contents);
      return { contents };
    } catch (error) {
      return { error: String(error) };
    }
  };
  const contents = ["abi", "evm.bytecode.object", "evm.deployedBytecode.object", "storageLayout"];
  const input = {
    language: "Solidity",
    sources,
    settings: { ...SETTINGS, outputSelection: { "*": { "*": contents, "": ["ast"] } } },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: findImport }));
  const problems = (output.errors ?? []).filter((p) => !EXPLAINED.has(`${p.errorCode} ${p.sourceLocation?.file}`));
  for (const problem of problems) console.error(problem.formattedMessage);
  // A warning is fixed or it is explained in the source; it is never shipped.
  if (problems.length > 0) throw new Error("the compiler reported problems");
  return { output, texts };
}

// Names of the sources that a source needs, itself included, sorted.
function closure(output, start) {
  const seen = new Set([start]);
  const queue = [start];
  while (queue.length > 0) {
    for (const node of output.sources[queue.pop()].ast.nodes) {
      if (node.nodeType === "ImportDirective" && !seen.has(node.absolutePath)) {
        seen.add(node.absolutePath);
        queue.push(node.absolutePath);
      }
    }
  }
  return [...seen].sort(byBytes);
}

// Node ids of the syntax tree say nothing about the layout, and change with every other contract.
function layout(storageLayout) {
  const text = JSON.stringify(storageLayout, (key, value) => (key === "astId" ? undefined : value));
  return JSON.parse(text.replace(/(t_(?:struct|enum|contract)\(\w+\))\d+/g, "$1"));
}

function build() {
  const { output, texts } = compile();
  const hashes = {};
  const inputs = {};
  const files = new Map();
  const add = (folder, name, needs, contract) => {
    inputs[name] = needs;
    const lines = needs.map((source) => `${hashes[source]}  ${source}\n`).join("");
    files.set(`${folder}/${name}.json`, json({ contractName: name, ...contract, sourceSha256: sha256(lines) }));
  };

  for (const name of [...texts.keys()].sort(byBytes)) hashes[name] = sha256(texts.get(name));
  const compiled = (folder, source, name) => {
    const c = output.contracts[source][name];
    add(folder, name, closure(output, source), {
      abi: c.abi,
      bytecode: "0x" + c.evm.bytecode.object,
      deployedBytecode: "0x" + c.evm.deployedBytecode.object,
      storageLayout: layout(c.storageLayout),
    });
  };
  for (const name of CONTRACTS) compiled("artifacts", `${name}.sol`, name);
  for (const name of HOSTILE) compiled("hostile", HOSTILE_SOURCE, name);

  const raw = readFileSync(join(modules, ENTRY_POINT_SOURCE));
  hashes[ENTRY_POINT_SOURCE] = sha256(raw);
  const { abi, bytecode, deployedBytecode } = JSON.parse(raw);
  add("artifacts", "EntryPoint", [ENTRY_POINT_SOURCE], { abi, bytecode, deployedBytecode, storageLayout: null });

  const calls = readFileSync(join(here, KERNEL_SOURCE));
  hashes[KERNEL_SOURCE] = sha256(calls);
  const creations = JSON.parse(calls);
  for (const [name, call] of Object.entries(KERNEL)) {
    const salted = creations[call];
    if (!salted.startsWith(ZERO_SALT)) throw new Error(`${call} has a salt`);
    const { abi } = output.contracts["Kernel.sol"][name];
    add("artifacts", name, [...closure(output, "Kernel.sol"), KERNEL_SOURCE].sort(byBytes), {
      abi,
      bytecode: "0x" + salted.slice(ZERO_SALT.length),
      deployedBytecode: null,
      storageLayout: null,
    });
  }

  const artifacts = {};
  for (const name of [...files.keys()].sort(byBytes)) artifacts[name] = sha256(files.get(name));
  const tools = {};
  for (const name of TOOLS) tools[name] = sha256(readFileSync(join(here, name)));
  files.set("manifest.json", json({ compiler: solc.version(), settings: SETTINGS, tools, sources: hashes, inputs, artifacts }));
  return files;
}

function committed() {
  const names = ["artifacts", "hostile"].flatMap((f) => readdirSync(join(here, f)).map((name) => `${f}/${name}`));
  return new Set([...names.filter((name) => name.endsWith(".json")), "manifest.json"]);
}

function check(files) {
  const found = committed();
  const wrong = [...found].filter((name) => !files.has(name)).map((name) => `${name}: not made by this generator`);
  for (const [name, text] of files) {
    if (!found.has(name)) wrong.push(`${name}: missing`);
    else if (readFileSync(join(here, name), "utf8") !== text) wrong.push(`${name}: differs, run node build.mjs`);
  }
  for (const line of wrong) console.error(line);
  return wrong.length === 0;
}

function write(files) {
  rmSync(join(here, "artifacts"), { recursive: true, force: true });
  mkdirSync(join(here, "artifacts"));
  for (const [name, text] of files) writeFileSync(join(here, name), text);
}

const files = build();
if (process.argv.includes("--check")) {
  process.exitCode = check(files) ? 0 : 1;
} else {
  write(files);
}
