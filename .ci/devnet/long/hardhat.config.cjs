// A hardhat project whose only network is a devnet. The compiler is that of npm: hardhat would download one.
const { createRequire } = require('node:module');
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require('hardhat/builtin-tasks/task-names');
const { subtask } = require('hardhat/config');
require('@nomicfoundation/hardhat-ethers');

const version = '0.8.37';

subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD, async () => ({
  compilerPath: createRequire(`${__dirname}/../package.json`).resolve('solc/soljson.js'),
  isSolcJs: true,
  version,
  longVersion: version,
}));

module.exports = {
  solidity: version,
  paths: { root: process.env.PROJECT, tests: `${__dirname}/test` },
  networks: { devnet: { url: process.env.DEVNET, accounts: process.env.KEY ? [process.env.KEY] : 'remote' } },
};
