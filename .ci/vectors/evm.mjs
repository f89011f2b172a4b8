// User operations, Approve documents and EIP-7702 authorizations, hashed and signed by viem.
import { encodeAbiParameters, hashMessage, hashTypedData, keccak256, serializeSignature } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { entryPoint07Address, getUserOperationHash } from 'viem/account-abstraction';
import { hashAuthorization } from 'viem/utils';
import { KEYS, Stream, hex, keyBytes, short } from './stream.mjs';

const accounts = Array.from({ length: KEYS }, (_, i) => privateKeyToAccount(hex(keyBytes('secp256k1', i))));
const account = (s) => accounts[s.below(KEYS)];
const address = (s) => hex(s.bytes(20));

// callDataAndNonceHash is keccak256(abi.encode(sender, callData, nonce)).
const callDataAndNonceHash = (sender, callData, nonce) =>
  keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }, { type: 'uint256' }], [sender, callData, nonce]));

// callData is mostly short and sometimes several kilobytes.
const callData = (s) => hex(s.blob(s.below(64) === 0 ? 4096 : 200));

export async function userOperation(i) {
  const s = new Stream('user operation', i);
  const userOperation = {
    sender: address(s), nonce: s.number(256), callData: callData(s), callGasLimit: s.number(128), verificationGasLimit: s.number(128),
    preVerificationGas: s.number(256), maxFeePerGas: s.number(128), maxPriorityFeePerGas: s.number(128), signature: '0x',
  };
  if (s.below(2) === 1) Object.assign(userOperation, { factory: address(s), factoryData: hex(s.blob(100)) });
  if (s.below(2) === 1) {
    Object.assign(userOperation, {
      paymaster: address(s), paymasterVerificationGasLimit: s.number(128), paymasterPostOpGasLimit: s.number(128), paymasterData: hex(s.blob(150)),
    });
  }
  const entryPointAddress = s.below(4) === 0 ? address(s) : entryPoint07Address;
  const hash = getUserOperationHash({ userOperation, entryPointAddress, entryPointVersion: '0.7', chainId: s.positive(256) });
  const message = { raw: hash };
  return [short(bytes(hash)), short(bytes(hashMessage(message))), short(bytes(await account(s).signMessage({ message })))];
}

const DOMAIN = [
  { name: 'name', type: 'string' }, { name: 'version', type: 'string' }, { name: 'chainId', type: 'uint256' }, { name: 'verifyingContract', type: 'address' },
];

export async function approval(i) {
  const s = new Stream('typed data', i);
  const domain = { name: s.text(64), version: s.text(64), chainId: s.positive(64), verifyingContract: address(s) };
  const hash = callDataAndNonceHash(address(s), callData(s), s.number(256));
  const types = { Approve: [{ name: 'callDataAndNonceHash', type: 'bytes32' }] };
  if (s.below(2) === 1) types.EIP712Domain = DOMAIN;
  const document = { domain, types, primaryType: 'Approve', message: { callDataAndNonceHash: hash } };
  return [short(bytes(hash)), short(bytes(hashTypedData(document))), short(bytes(await account(s).signTypedData(document)))];
}

export async function authorization(i) {
  const s = new Stream('authorization', i);
  const chainId = s.positive(s.below(4) === 0 ? 256 : 53);
  const request = { chainId, address: address(s), nonce: s.number(53) };
  const signed = await account(s).signAuthorization(request);
  return [short(bytes(hashAuthorization(request))), short(bytes(serializeSignature(signed)))];
}

const bytes = (text) => Buffer.from(text.slice(2), 'hex');
