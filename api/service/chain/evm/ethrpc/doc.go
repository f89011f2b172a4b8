// Package ethrpc answers the eth_, net_, web3_ and txpool_ methods of an embedded EVM chain: it reads parameters, asks
// the engine (package evm) and gives results the form that tools expect. Fields, error codes and error texts are
// go-ethereum's, because viem, ethers and the tools of Foundry recognise them by text.
//
// Tags: a chain that seals at once and never reorganises has one head, so latest, safe and finalized are it. Pending is
// the state of the head in the block that would come next.
//
// What a call may cost: 50 million gas and five seconds, an answer of 10 000 logs, 1 000 filters. No method reads a key
// or signs. With Options.Dev the state can be changed without a signature (dev.go).
//
// Shared with package tracers: args.go, blockref.go, overrides.go, execute.go, errors.go and the shapes of shapes.go.
package ethrpc
