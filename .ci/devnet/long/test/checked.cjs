// What a hardhat project does with a network: it deploys and calls, with an account of the node or a private key.
const assert = require('node:assert/strict');
const { ethers, network } = require('hardhat');

describe('59 hardhat', function () {
  let contract;
  let signer;
  before(async function () {
    [signer] = await ethers.getSigners();
    contract = await ethers.deployContract('Checked', signer);
    await contract.waitForDeployment();
  });
  it('deploys, and the receipt says where', async function () {
    const receipt = await contract.deploymentTransaction().wait();
    assert.equal(receipt.status, 1);
    assert.equal(receipt.contractAddress, await contract.getAddress());
  });
  it('writes and finds the event', async function () {
    const receipt = await (await contract.set(7)).wait();
    assert.equal(receipt.status, 1);
    assert.equal(await contract.v(), 7n);
    const [event] = await contract.queryFilter('Set', receipt.blockNumber);
    assert.deepEqual([event.args.who, event.args.value], [signer.address, 7n]);
  });
  it('gets the reason of a call that reverts', async function () {
    await assert.rejects(contract.fail.staticCall(0), /plain reason/);
    await assert.rejects(contract.fail.staticCall(1), (e) => contract.interface.parseError(e.data).name === 'Bad');
  });
  it('goes back to a snapshot', async function () {
    if (network.config.accounts !== 'remote') this.skip(); // it is a method of --dev
    const snapshot = await network.provider.send('evm_snapshot');
    await (await contract.set(8)).wait();
    assert.equal(await network.provider.send('evm_revert', [snapshot]), true);
    assert.equal(await contract.v(), 7n);
  });
});
