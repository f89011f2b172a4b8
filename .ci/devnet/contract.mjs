// The contract that the tools deploy and call, compiled by solc from npm, and solc in the form that forge starts:
// `node contract.mjs --standard-json` reads the compiler's input from standard input.
import solc from 'solc';
import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const source = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

contract Checked {
    uint256 public v;
    event Set(address indexed who, uint256 indexed value, string note);
    error Bad(address who, uint256 code);

    function set(uint256 value) external payable {
        v = value;
        emit Set(msg.sender, value, "set");
    }

    function fail(uint256 how) external view {
        if (how == 0) revert("plain reason");
        if (how == 1) revert Bad(msg.sender, 7);
        if (how == 2) revert();
        uint256 zero = how - how;
        zero = how / zero;
    }

    // ERC-1271: whoever the last value names is the only signer.
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        address signer = ecrecover(hash, uint8(signature[64]), r, s);
        return signer == address(uint160(v)) ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}
`;

export function compile() {
  const input = {
    language: 'Solidity',
    sources: { 'Checked.sol': { content: source } },
    settings: { optimizer: { enabled: true, runs: 200 }, outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } } },
  };
  const out = JSON.parse(solc.compile(JSON.stringify(input)));
  const errors = (out.errors ?? []).filter((e) => e.severity === 'error');
  if (errors.length > 0) throw new Error(errors.map((e) => e.formattedMessage).join('\n'));
  const { abi, evm } = out.contracts['Checked.sol'].Checked;
  return { abi, bytecode: `0x${evm.bytecode.object}` };
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--version')) {
    console.log(`solc, the solidity compiler commandline interface\nVersion: ${solc.version()}`);
  } else if (process.argv.includes('--standard-json')) {
    process.stdout.write(solc.compile(readFileSync(0, 'utf8')));
  } else {
    process.stderr.write('contract.mjs --version | --standard-json\n');
    process.exit(2);
  }
}
