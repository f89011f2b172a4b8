package settle_test

import (
	"encoding/hex"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	. "coffer/api/service/settle/settletest"
)

// moody is a contract that gives back to its caller as much as it was last told with a word of call data:
//
//	if calldatasize == 0 { call(caller, value: sload(0)) } else { sstore(0, calldataload(0)) }
const moody = "36601357" + "6000600060006000" + "600054" + "33" + "5a" + "f1" + "00" + "5b" + "600035" + "600055" + "00"

// deploy puts a contract on a chain through the deterministic deployer.
func deploy(t *testing.T, w *World, chainID uint64, runtime string) common.Address {
	t.Helper()
	code, err := hex.DecodeString(runtime)
	Must(t, err)
	size := byte(len(code))
	init := append(append([]byte{0x5f + size}, code...), 0x60, 0, 0x52, 0x60, size, 0x60, 32-size, 0xf3)
	seal(w, chainID, chain.Tx{From: w.Installation.Faucet, To: evm.DeterministicDeployer(),
		Data: append(make([]byte, 32), init...)})
	return crypto.CreateAddress2(evm.DeterministicDeployer(), common.Hash{}, crypto.Keccak256(init))
}

// TestExecuteLeavesWhatOtherQuotesHavePledged: calls that spend more at execute than in the simulation of their quote
// do not touch what an executing quote will still take (protocol §4.3).
func TestExecuteLeavesWhatOtherQuotesHavePledged(t *testing.T) {
	const coin = 1_000_000_000_000_000_000
	w := New(t, Options{})
	eth := w.Asset("eth", Base)
	w.Fund(w.User.Address, eth, coin)
	// deploys the account, which two quotes could not
	w.RunDirect(Base, op.LanePrepared, true, op.Call{To: payee(), Value: new(big.Int)})
	at := deploy(t, w, Base, moody)
	gives := func(v int64) {
		seal(w, Base, chain.Tx{From: w.Installation.Faucet, To: at, Data: common.BigToHash(big.NewInt(v)).Bytes(),
			Gas: 100_000})
	}
	gives(coin / 2)
	call := w.SignQuote(w.Quote(w.Request(eth, 0, api.Call{To: at.Hex(), Value: big.NewInt(coin / 2).String()}), ""))
	swap := w.Decode(w.Swap(Exchange{From: caip.Native(Base).String(), Amount: big.NewInt(coin * 8 / 10),
		Get: "ob:usdc", To: payeeOn(Optimism)(w)}))
	acceptOffer(w, swap.ID)
	gives(0)
	Refused(t, w.Execute(call), api.ErrInsufficientBalance)
	gives(coin / 2)
	if s := w.Settle(call); s.Status != api.StatusCompleted {
		t.Errorf("the same call, when it spends what was quoted: %+v", s)
	}
}
