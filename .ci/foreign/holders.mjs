// The accounts of the interface and how each signs a chain operation. A holder has `accounts` as requests carry them and sign(operation), which
// returns the operation with its signatures filled in and nothing else changed.
import bs58 from 'bs58';
import { Keypair, VersionedMessage, VersionedTransaction } from '@solana/web3.js';
import { encodeAbiParameters, hexToBytes, isAddressEqual, keccak256, numberToHex, stringToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { entryPoint07Address, getUserOperationHash } from 'viem/account-abstraction';
import assert from 'node:assert/strict';

export const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';

// Keys follow from names: a failing run can be repeated. They hold nothing outside the service that is being tried.
const seed = (name) => keccak256(stringToHex(`coffer foreign client/${name}`));
export const evmKey = (name) => privateKeyToAccount(seed(name));

const predict = async (service, request) => (await service.post('/account/predict-address', request, { want: 201 })).predictedAddress;

export async function kernel31(service, name) {
  const key = evmKey(name);
  const type = 'kernel-v3.1-ecdsa';
  const accountAddress = await predict(service, { type, signerAddress: key.address });
  return holder({ type, signerAddress: key.address, accountAddress }, (operation) => signUserOp(operation, key));
}

export async function roleBased(service, name) {
  const [session, admin] = [evmKey(`${name}/session`), evmKey(`${name}/admin`)];
  const keys = { sessionAddress: session.address, adminAddress: admin.address };
  const accountAddress = await predict(service, keys);
  return holder({ ...keys, accountAddress }, (operation) => signTypedData(operation, session)); // no type: v1 takes that as role-based
}

export function kernel33(name) {
  const key = evmKey(name);
  const account = { type: 'kernel-v3.3-ecdsa', deploymentType: 'EIP7702', signerAddress: key.address, accountAddress: key.address };
  return holder(account, async (operation) => signUserOp(await signDelegation(operation, key), key));
}

export function solana(name) {
  const key = Keypair.fromSeed(hexToBytes(seed(name)));
  return holder({ type: 'solana', accountAddress: key.publicKey.toBase58() }, (operation) => signMessage(operation, key));
}

// together is what one person with an EVM and a Solana account sends and signs.
export function together(evm, sol) {
  return { accounts: [...evm.accounts, ...sol.accounts], sign: (operation) => (operation.type === 'solana' ? sol : evm).sign(operation) };
}

const holder = (account, sign) => ({ accounts: [account], account, address: account.accountAddress, sign });

const withSignature = (operation, signature) => ({ ...operation, userOp: { ...operation.userOp, signature } });

// userOpHash is ERC-4337 v0.7's; the chain is that of the typed data, also for accounts that do not sign it.
export function userOpHash({ userOp, typedDataToSign }) {
  const numeric = ['nonce', 'callGasLimit', 'verificationGasLimit', 'preVerificationGas', 'maxFeePerGas', 'maxPriorityFeePerGas', 'paymasterVerificationGasLimit', 'paymasterPostOpGasLimit'];
  const userOperation = Object.fromEntries(Object.entries(userOp).map(([name, value]) => [name, numeric.includes(name) ? BigInt(value) : value]));
  return getUserOperationHash({ userOperation, entryPointAddress: entryPoint07Address, entryPointVersion: '0.7', chainId: typedDataToSign.domain.chainId });
}

async function signUserOp(operation, key) {
  return withSignature(operation, await key.signMessage({ message: { raw: userOpHash(operation) } })); // EIP-191 over the 32 bytes
}

export async function signTypedData(operation, key) {
  const { typedDataToSign: typed, userOp } = operation;
  assert.equal(typed.primaryType, 'Approve');
  const committed = encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }, { type: 'uint256' }], [userOp.sender, userOp.callData, BigInt(userOp.nonce)]);
  assert.equal(typed.message.callDataAndNonceHash, keccak256(committed), 'the typed data commits to the operation it comes with');
  return withSignature(operation, await key.signTypedData(typed));
}

// signDelegation signs the EIP-7702 authorization that the account needs on this chain, if it needs one.
async function signDelegation(operation, key) {
  const { delegation, typedDataToSign } = operation;
  if (!delegation) return operation;
  const { contractAddress, nonce } = delegation;
  const { chainId } = typedDataToSign.domain;
  const { r, s, v, yParity } = await key.signAuthorization({ contractAddress, chainId, nonce });
  assert.ok(isAddressEqual(contractAddress, '0xd6CEDDe84be40893d153Be9d467CD6aD37875b28'), 'an EOA is lent to Kernel v3.3 and nothing else');
  return { ...operation, delegation: { ...delegation, signature: { chainId, contractAddress, nonce, r, s, v: numberToHex(v), yParity, type: 'Signed' } } };
}

// readMessage decodes what is to be signed and holds it against what the operation shows beside it.
export function readMessage(operation) {
  const bytes = Buffer.from(operation.dataToSign, 'base64');
  const message = VersionedMessage.deserialize(bytes);
  assert.equal(message.version, 0);
  assert.deepEqual(Buffer.from(message.serialize()), bytes, 'the message is in canonical form');
  assert.equal(message.addressTableLookups.length, 0);
  assert.equal(message.recentBlockhash, operation.recentBlockHash);
  assert.equal(message.staticAccountKeys[0].toBase58(), operation.feePayer);
  const keys = message.staticAccountKeys.map((k) => k.toBase58());
  const instructions = message.compiledInstructions.map((i) => ({
    programId: keys[i.programIdIndex],
    data: Buffer.from(i.data).toString('hex'),
    keys: i.accountKeyIndexes.map((k) => ({ pubkey: keys[k], isSigner: message.isAccountSigner(k), isWritable: message.isAccountWritable(k) })),
  }));
  assert.deepEqual(operation.instructions, instructions, 'the instructions shown are those of the message');
  return { message, keys, instructions };
}

function signMessage(operation, key) {
  const { message, keys } = readMessage(operation);
  assert.equal(message.header.numRequiredSignatures, 2);
  assert.equal(keys[1], key.publicKey.toBase58(), 'the sponsor pays the fee, the user signs last');
  const transaction = new VersionedTransaction(message);
  transaction.sign([key]);
  return { ...operation, signature: bs58.encode(transaction.signatures.at(-1)) };
}
